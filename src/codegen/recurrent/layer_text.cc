#include "codegen/cube/text.h"
#include "codegen/recurrent/cell_text.h"
#include "codegen/recurrent/layer.h"
#include "codegen/text.h"

#include <functional>

namespace attune::codegen {
namespace {

constexpr const char* kEntry = "recurrent";

class Writer {
 public:
  Writer(const RecurrentLayerText& layer, const RecurrentSchedule& schedule)
      : layer_(layer), schedule_(schedule), places_(layer, schedule) {}

  std::string write(Isa isa) {
    text_.paste(vector_types(isa, schedule_.lanes, {Element::f32, layer_.element}));
    text_.line("typedef {} T;  // of operands", element_c_type(layer_.element));
    write_ends();
    text_.paste(cell_functions(layer_, schedule_));
    text_.line("// Of the threads of one direction.");
    text_.open("struct Team");
    text_.line("void (*meet)(void* barrier);");
    text_.line("void* barrier;");
    text_.close(";");
    write_direction();
    write_entry();
    return text_.take();
  }

 private:
  int64_t lanes() const { return schedule_.lanes; }
  bool reset_first() const { return layer_.cell == RecurrentCell::gru_reset_first; }

  /// What is read and written at the end of a row, where fewer units than lanes may be left.
  void write_ends() {
    text_.open("static inline vf take(const T* p, long left)");
    text_.line("return left >= {} ? load(p) : left > 0 ? load_part(p, left) : (vf)0.0f;", lanes());
    text_.close();
    text_.open("static inline void put(T* p, vf v, long left)");
    text_.line("if (left >= {})", lanes());
    text_.line("  store(p, v);");
    text_.line("else if (left > 0)");
    text_.line("  store_part(p, v, left);");
    text_.close();
    text_.blank();
  }

  /// Calls for all rows of the batch; `call` gets the height of the tile and text for its first row.
  void write_rows(const std::function<void(int64_t rows, const std::string& row)>& call) {
    int64_t first = 0;
    for (const RecurrentPlaces::Heights& h : places_.heights()) {
      if (h.count == 1) {
        call(h.rows, std::to_string(first));
      } else {
        text_.open("for (long row = {}; row < {}; row += {})", first, first + h.rows * h.count, h.rows);
        call(h.rows, "row");
        text_.close();
      }
      first += h.rows * h.count;
    }
  }

  static std::string times(const std::string& row, int64_t stride) {
    return row == "0" ? "" : fmt::format(" + {} * {}", row, stride);
  }

  /// Opens the member's share of `all`, up and down in turn: where the cache is too small for all weights, what was
  /// read last is still there.
  void open_share(const char* what, int64_t all) {
    text_.line("const long begin_{0} = {1} * rank / members, end_{0} = {1} * (rank + 1) / members;", what, all);
    text_.open("for (long i = begin_{0}; i < end_{0}; ++i)", what);
    text_.line("const long {0} = step % 2 ? begin_{0} + end_{0} - 1 - i : i;", what);
  }

  void write_step() {
    const int64_t units = places_.panel_units(), depth = layer_.hidden;
    const std::string results =
        fmt::format("next + unit{{0}}, {}, {} - unit", layer_.has_y ? "y + unit{1}" : "nullptr", layer_.hidden);
    const auto results_of = [&](const std::string& row) {
      return fmt::format(fmt::runtime(results), times(row, places_.units()), times(row, layer_.hidden));
    };
    open_share("panel", places_.panels());
    text_.line("const long unit = panel * {};", units);
    text_.line("const T* w = state_weights + panel * {};", depth * places_.step_gates() * units);
    text_.line("const float* p = projected + row_of_step * {} + panel * {};", places_.gate_row(),
               layer_.gates() * units);
    write_rows([&](int64_t rows, const std::string& row) {
      const std::string state = times(row, places_.units());
      const std::string common = fmt::format("h{}, w, p{}", state, times(row, places_.gate_row()));
      switch (layer_.cell) {
        case RecurrentCell::lstm:
          text_.line("step_{}({}, cell + unit{}, {});", rows, common, state, results_of(row));
          break;
        case RecurrentCell::gru:
          text_.line("step_{}({}, state_bias + unit, h + unit{}, {});", rows, common, state, results_of(row));
          break;
        case RecurrentCell::gru_reset_first:
          text_.line("gates_{0}({1}, h + unit{2}, update + unit{2}, reset + unit{2});", rows, common, state);
          break;
      }
    });
    text_.close();
    if (!reset_first()) return;
    text_.line("if (members > 1) team->meet(team->barrier);  // what follows reads all that was reset");
    open_share("group", places_.groups());
    const int64_t panels = RecurrentPlaces::kGroupPanels;
    text_.line("const long unit = group * {};", panels * units);
    text_.line("const T* w = fresh_weights + group * {};", depth * panels * units);
    text_.line("const float* p = projected + row_of_step * {} + group * {};", places_.gate_row(),
               panels * layer_.gates() * units);
    const auto call = [&](int64_t of_group) {
      write_rows([&](int64_t rows, const std::string& row) {
        const std::string state = times(row, places_.units());
        text_.line("fresh_{0}x{1}(reset{2}, w, p{3}, h + unit{2}, update + unit{2}, {4});", rows, of_group, state,
                   times(row, places_.gate_row()), results_of(row));
      });
    };
    for (const int64_t of_group : places_.group_sizes()) {
      const bool last = of_group == places_.group_panels(places_.groups() - 1);
      if (places_.group_sizes().size() > 1) text_.open("if (group {} {})", last ? "==" : "<", places_.groups() - 1);
      call(of_group);
      if (places_.group_sizes().size() > 1) text_.close();
    }
    text_.close();
  }

  void write_first_state(const char* what, int input) {
    text_.open("for (long b = 0; b < {}; ++b)", layer_.batch);
    text_.open("for (long unit = 0; unit < {}; unit += {})", places_.units(), lanes());
    const std::string value = input < 0
                                  ? "(vf)0.0f"
                                  : fmt::format("take((const T*)inputs[{}] + (d * {} + b) * {} + unit, {} - unit)",
                                                input, layer_.batch, layer_.hidden, layer_.hidden);
    text_.line("store({} + b * {} + unit, {});", what, places_.units(), value);
    text_.close();
    text_.close();
  }

  void write_last_state(const char* what, int output) {
    text_.open("for (long b = 0; b < {}; ++b)", layer_.batch);
    text_.open("for (long unit = 0; unit < {}; unit += {})", layer_.hidden, lanes());
    text_.line("put((T*)outputs[{}] + (d * {} + b) * {} + unit, load({} + b * {} + unit), {} - unit);", output,
               layer_.batch, layer_.hidden, what, places_.units(), layer_.hidden);
    text_.close();
    text_.close();
  }

  void write_scratch() {
    int64_t offset = 0;
    const auto part = [&](const char* name, int64_t floats) {
      text_.line("float* {} = scratch + {};", name, offset);
      offset += floats;
    };
    part("projected", places_.projected());
    part("even", places_.state());
    part("odd", places_.state());
    if (layer_.cell == RecurrentCell::lstm) part("cell", places_.state());
    if (reset_first()) {
      part("update", places_.state());
      part("reset", places_.state());
    }
  }

  void write_weights() {
    const int64_t units = places_.units();
    text_.line("const T* input_weights = (const T*)prepared[0] + d * {};", layer_.inputs * places_.gate_row());
    text_.line("const T* state_weights = (const T*)prepared[1] + d * {};",
               layer_.hidden * places_.step_gates() * units);
    text_.line("const float* bias = (const float*)prepared[2] + d * {};", places_.gate_row());
    if (layer_.cell == RecurrentCell::gru)
      text_.line("const float* state_bias = (const float*)prepared[3] + d * {};", units);
    if (reset_first()) text_.line("const T* fresh_weights = (const T*)prepared[3] + d * {};", layer_.hidden * units);
  }

  void write_projections() {
    text_.line("const T* x = (const T*)inputs[0] + oldest * {};", layer_.batch * layer_.inputs);
    text_.open("for (long panel = {0} * rank / members; panel < {0} * (rank + 1) / members; ++panel)",
               places_.panels());
    const int64_t panel_row = layer_.gates() * places_.panel_units();
    text_.line("const T* w = input_weights + panel * {};", layer_.inputs * panel_row);
    text_.line("const float* add = bias + panel * {};", panel_row);
    text_.line("float* out = projected + panel * {};", panel_row);
    text_.line("const long rows = count * {};", layer_.batch);
    text_.line("long row = 0;");
    const std::string call =
        fmt::format("project_{{}}(x + row * {}, w, add, out + row * {});", layer_.inputs, places_.gate_row());
    if (schedule_.project_rows <= places_.chunk_rows())
      text_.line("for (; row + {0} <= rows; row += {0}) {1}", schedule_.project_rows,
                 fmt::format(fmt::runtime(call), schedule_.project_rows));
    for (const int64_t rest : places_.rest_rows())
      text_.line("if (rows - row == {}) {}", rest, fmt::format(fmt::runtime(call), rest));
    text_.close();
  }

  void write_direction() {
    text_.line("// A member's share of direction d: a range of its units, in all steps.");
    text_.open(
        "static void direction(const void* const* inputs, void* const* outputs, const void* const* prepared, float* "
        "scratch, const Team* team, long d, long rank, long members)");
    write_scratch();
    write_weights();
    text_.open("if (rank == 0)");
    write_first_state("even", layer_.initial_h);
    if (layer_.cell == RecurrentCell::lstm) write_first_state("cell", layer_.initial_c);
    text_.close();
    text_.line("if (members > 1) team->meet(team->barrier);");
    text_.line("const bool backwards = {};", layer_.reverse ? "true" : "d == 1");
    text_.open("for (long first = 0; first < {}; first += {})", layer_.steps, places_.chunk_steps());
    text_.line("const long count = {0} - first < {1} ? {0} - first : {1};", layer_.steps, places_.chunk_steps());
    text_.line("// Steps lie in memory in the order of time, whichever way they are walked.");
    text_.line("const long oldest = backwards ? {} - first - count : first;", layer_.steps);
    write_projections();
    text_.open("for (long step = first; step < first + count; ++step)");
    text_.line("const long within = backwards ? count - 1 - (step - first) : step - first;");
    text_.line("const long row_of_step = within * {};", layer_.batch);
    text_.line("const float* h = step % 2 ? odd : even;");
    text_.line("float* next = step % 2 ? even : odd;");
    if (layer_.has_y)
      text_.line("T* y = (T*)outputs[0] + ((oldest + within) * {} + d) * {};", layer_.directions,
                 layer_.batch * layer_.hidden);
    write_step();
    text_.line("if (members > 1) team->meet(team->barrier);");
    text_.close();
    text_.close();
    if (layer_.has_last_h || layer_.has_last_c) {
      text_.open("if (rank == 0)");
      if (layer_.has_last_h) write_last_state(layer_.steps % 2 != 0 ? "odd" : "even", 1);
      if (layer_.has_last_c) write_last_state("cell", 2);
      text_.close();
    }
    text_.close();
    text_.blank();
  }

  void write_entry() {
    const int64_t teams = schedule_.in_turn ? 1 : layer_.directions;
    text_.line("// For member `begin` of `end` threads. Where fewer came than asked for, each has whole directions.");
    text_.open("extern \"C\" void {}({})", kEntry, kEntryParameters);
    text_.line("const long members = end == {} ? {} : 1;", teams * schedule_.threads, schedule_.threads);
    text_.open("for (long d = begin / members; d < {}; d += end / members)", layer_.directions);
    text_.line("float* scratch = (float*)((char*)workspace + {}) + d * {};", kTeamHeaderBytes,
               places_.scratch_floats());
    text_.line(
        "direction(inputs, outputs, prepared, scratch, (const Team*)workspace + {}, d, begin % members, members);",
        schedule_.in_turn ? "0" : "d");
    text_.close();
    text_.close();
  }

  const RecurrentLayerText& layer_;
  const RecurrentSchedule& schedule_;
  RecurrentPlaces places_;
  cube::Text text_;
};

}  // namespace

GeneratedSource emit_recurrent(const RecurrentLayerText& layer, const RecurrentSchedule& schedule, Isa isa,
                               const std::string& header) {
  return {header + Writer(layer, schedule).write(isa), kEntry};
}

}  // namespace attune::codegen
