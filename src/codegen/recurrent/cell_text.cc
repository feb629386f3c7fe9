#include "codegen/recurrent/cell_text.h"

#include "codegen/cube/text.h"

#include <functional>
#include <set>

namespace attune::codegen {
namespace {

/// Gates are quotients of exponentials, so that products of them take one division: sigmoid(x) = 1 / (1 + e^-x),
/// tanh(x) = (e^2x - 1) / (e^2x + 1). Bounds keep those products finite, and differ from the functions by less than f32
/// resolves near 1: sigmoid(-40) is 4e-18, tanh(10) rounds to 1.
constexpr const char* kGates = R"(// e^x with x between bounds that a NaN does not exceed.
static inline vf grown(vf x, float most) {
  const vf above = x > most ? (vf)most : x;
  return vexp_within(above < -most ? (vf)-most : above);
}
// sigmoid(x) = 1 / closing(x); tanh(x) = (e - 1) / (e + 1) with e = doubled(x).
static inline vf closing(vf x) { return 1.0f + grown(-x, 40.0f); }
static inline vf doubled(vf x) { return grown(x + x, 20.0f); }
)";

class CellWriter {
 public:
  CellWriter(const RecurrentLayerText& layer, const RecurrentSchedule& schedule)
      : layer_(layer), schedule_(schedule), places_(layer, schedule) {}

  std::string write() {
    text_.paste(vector_functions({"vexp_within"}));
    text_.paste(kGates);
    text_.blank();
    std::set<int64_t> project_rows = {schedule_.project_rows};
    for (const int64_t rows : places_.rest_rows()) project_rows.insert(rows);
    for (const int64_t rows : project_rows)
      if (rows <= places_.chunk_rows()) write_project(rows);
    for (const RecurrentPlaces::Heights& h : places_.heights()) {
      switch (layer_.cell) {
        case RecurrentCell::lstm: write_lstm(h.rows); break;
        case RecurrentCell::gru: write_gru(h.rows); break;
        case RecurrentCell::gru_reset_first:
          write_gates(h.rows);
          for (const int64_t panels : places_.group_sizes()) write_fresh(h.rows, panels);
          break;
      }
    }
    return text_.take();
  }

 private:
  int64_t lanes() const { return schedule_.lanes; }
  int64_t vectors() const { return schedule_.panel_vectors; }

  // The sums of a tile: s<row>_<vector>, of further chains with their number behind.
  static std::string sum(int64_t row, int64_t vector, int64_t chain = 0) {
    return fmt::format("s{}_{}{}", row, vector, chain > 0 ? fmt::format("_{}", chain) : "");
  }

  /// Declares sums of rows x count, which begin at what `start` says, and adds the products of `depth` numbers of rows
  /// `stride` apart at x with the weights at w.
  void write_products(int64_t rows, int64_t count, int64_t chains, int64_t depth, int64_t stride,
                      const std::function<std::string(int64_t row, int64_t vector)>& start) {
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t v = 0; v < count; ++v) text_.line("vf {} = {};", sum(row, v), start(row, v));
    for (int64_t chain = 1; chain < chains; ++chain)
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t v = 0; v < count; ++v) text_.line("vf {} = (vf)0.0f;", sum(row, v, chain));
    const auto add = [&](int64_t chain, int64_t at) {
      for (int64_t row = 0; row < rows; ++row)
        text_.line("const vf x{}_{} = load_one(x + k + {});", row, at, row * stride + at);
      for (int64_t v = 0; v < count; ++v) {
        text_.line("const vf w{}_{} = load(w + {});", v, at, (at * count + v) * lanes());
        for (int64_t row = 0; row < rows; ++row)
          text_.line("{} += x{}_{} * w{}_{};", sum(row, v, chain), row, at, v, at);
      }
    };
    const int64_t together = std::min(chains, depth), whole = depth / together * together;
    text_.open("for (long k = 0; k < {}; k += {}, w += {})", whole, together, together * count * lanes());
    for (int64_t chain = 0; chain < together; ++chain) add(chain, chain);
    text_.close();
    if (whole < depth) {
      text_.open("for (long k = {}; k < {}; ++k, w += {})", whole, depth, count * lanes());
      add(0, 0);
      text_.close();
    }
    for (int64_t chain = 1; chain < chains; ++chain)
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t v = 0; v < count; ++v) text_.line("{} += {};", sum(row, v), sum(row, v, chain));
  }

  void write_project(int64_t rows) {
    const int64_t count = layer_.gates() * vectors();
    text_.line("// What {} rows of the input give all gates of a panel.", rows);
    text_.open("static void project_{}(const T* x, const T* w, const float* bias, float* out)", rows);
    write_products(rows, count, 1, layer_.inputs, layer_.inputs,
                   [&](int64_t, int64_t v) { return fmt::format("load(bias + {})", v * lanes()); });
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t v = 0; v < count; ++v)
        text_.line("store(out + {}, {});", row * places_.gate_row() + v * lanes(), sum(row, v));
    text_.close();
    text_.blank();
  }

  int64_t at(int64_t row, int64_t vector) const { return row * places_.units() + vector * lanes(); }
  int64_t projected_at(int64_t row, int64_t gate, int64_t vector) const {
    return row * places_.gate_row() + (gate * vectors() + vector) * lanes();
  }

  void write_result(int64_t row, int64_t vector, const char* value) {
    text_.line("store(next + {}, {});", at(row, vector), value);
    if (layer_.has_y)
      text_.line("put(y + {}, {}, left - {});", row * layer_.hidden + vector * lanes(), value, vector * lanes());
  }

  static constexpr const char* kResults = "float* next, T* y, long left";

  void write_lstm(int64_t rows) {
    text_.line("// One step of the units of a panel, of which `left` are there, in {} rows.", rows);
    text_.open("static void step_{}(const float* x, const T* w, const float* projected, float* cell, {})", rows,
               kResults);
    write_products(rows, 4 * vectors(), schedule_.chains, layer_.hidden, places_.units(), [&](int64_t row, int64_t v) {
      return fmt::format("load(projected + {})", projected_at(row, 0, v));
    });
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t v = 0; v < vectors(); ++v) {
        const auto gate = [&](int64_t g) { return sum(row, g * vectors() + v); };
        text_.open("");
        text_.line("const vf fresh = doubled({});", gate(3));
        text_.line("const vf c = load(cell + {}) / closing({}) + (fresh - 1.0f) / (closing({}) * (fresh + 1.0f));",
                   at(row, v), gate(2), gate(0));
        text_.line("store(cell + {}, c);", at(row, v));
        text_.line("const vf e = doubled(c), h = (e - 1.0f) / (closing({}) * (e + 1.0f));", gate(1));
        write_result(row, v, "h");
        text_.close();
      }
    text_.close();
    text_.blank();
  }

  /// A GRU's state h = n + (old - n) / keep with n = (fresh - 1) / (fresh + 1).
  void write_between(int64_t row, int64_t vector) {
    text_.line(
        "const vf h = ((fresh - 1.0f) * (keep - 1.0f) + load(old + {}) * (fresh + 1.0f)) / ((fresh + 1.0f) * keep);",
        at(row, vector));
  }

  void write_gru(int64_t rows) {
    text_.line("// One step of the units of a panel, of which `left` are there, in {} rows.", rows);
    text_.open(
        "static void step_{}(const float* x, const T* w, const float* projected, const float* bias, const float* old, "
        "{})",
        rows, kResults);
    write_products(rows, 3 * vectors(), schedule_.chains, layer_.hidden, places_.units(), [&](int64_t row, int64_t v) {
      return v < 2 * vectors() ? fmt::format("load(projected + {})", projected_at(row, 0, v))
                               : fmt::format("load(bias + {})", (v - 2 * vectors()) * lanes());
    });
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t v = 0; v < vectors(); ++v) {
        const auto gate = [&](int64_t g) { return sum(row, g * vectors() + v); };
        text_.open("");
        text_.line("const vf fresh = doubled(load(projected + {}) + {} / closing({}));", projected_at(row, 2, v),
                   gate(2), gate(1));
        text_.line("const vf keep = closing({});", gate(0));
        write_between(row, v);
        write_result(row, v, "h");
        text_.close();
      }
    text_.close();
    text_.blank();
  }

  void write_gates(int64_t rows) {
    text_.line("// What closes the update gates of the units of a panel, and their reset states, in {} rows.", rows);
    text_.open(
        "static void gates_{}(const float* x, const T* w, const float* projected, const float* old, float* update, "
        "float* reset)",
        rows);
    write_products(rows, 2 * vectors(), schedule_.chains, layer_.hidden, places_.units(), [&](int64_t row, int64_t v) {
      return fmt::format("load(projected + {})", projected_at(row, 0, v));
    });
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t v = 0; v < vectors(); ++v) {
        text_.line("store(update + {}, closing({}));", at(row, v), sum(row, v));
        text_.line("store(reset + {0}, load(old + {0}) / closing({1}));", at(row, v), sum(row, vectors() + v));
      }
    text_.close();
    text_.blank();
  }

  void write_fresh(int64_t rows, int64_t panels) {
    const int64_t count = panels * vectors();
    const auto projected = [&](int64_t row, int64_t v) {
      return v / vectors() * layer_.gates() * places_.panel_units() + projected_at(row, 2, v % vectors());
    };
    text_.line("// The new state of the units of {} panels, of which `left` are there, in {} rows.", panels, rows);
    text_.open(
        "static void fresh_{}x{}(const float* x, const T* w, const float* projected, const float* old, const float* "
        "update, {})",
        rows, panels, kResults);
    write_products(rows, count, schedule_.chains, layer_.hidden, places_.units(),
                   [&](int64_t row, int64_t v) { return fmt::format("load(projected + {})", projected(row, v)); });
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t v = 0; v < count; ++v) {
        text_.open("");
        text_.line("const vf fresh = doubled({}), keep = load(update + {});", sum(row, v), at(row, v));
        write_between(row, v);
        write_result(row, v, "h");
        text_.close();
      }
    text_.close();
    text_.blank();
  }

  const RecurrentLayerText& layer_;
  const RecurrentSchedule& schedule_;
  RecurrentPlaces places_;
  cube::Text text_;
};

}  // namespace

std::string cell_functions(const RecurrentLayerText& layer, const RecurrentSchedule& schedule) {
  return CellWriter(layer, schedule).write();
}

}  // namespace attune::codegen
