#include "codegen/cube/task_grid.h"
#include "codegen/cube/text.h"
#include "codegen/cube/winograd.h"
#include "codegen/text.h"

#include <cmath>
#include <functional>
#include <utility>

namespace attune::cube {
namespace {

constexpr int64_t kLineFloats = 16;  // of a line of cache

using Name = std::function<std::string(size_t)>;

/// "d0 - 2.5f * d2 + d4" for terms {1, "d0"}, {-2.5, "d2"}, {1, "d4"}.
std::string combination(const std::vector<std::pair<double, std::string>>& terms) {
  std::string out;
  for (const auto& [factor, name] : terms) {
    out += out.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
    const double size = std::abs(factor);
    out += size == 1 ? name : fmt::format("{} * {}", codegen::float_literal(static_cast<float>(size)), name);
  }
  return out;
}

/// even[0] x[first] + even[1] x[first + 2] + …
std::string every_second(const std::vector<double>& even, size_t first, const Name& x) {
  std::vector<std::pair<double, std::string>> terms;
  for (size_t k = 0; k < even.size(); ++k) terms.emplace_back(even[k], x(first + 2 * k));
  return combination(terms);
}

class Writer {
 public:
  Writer(const std::string& name, const WinogradShape& shape, const WinogradSchedule& schedule,
         const Epilogue& epilogue)
      : name_(name),
        shape_(shape),
        schedule_(schedule),
        epilogue_(epilogue),
        squares_(winograd_squares(schedule.output_tile)) {
    panels_ = divide_up(shape.out_channels, schedule.panel_columns());
    edge_vectors_ =
        static_cast<int>((shape.out_channels - (panels_ - 1) * schedule.panel_columns()) / schedule.isa.lanes);
    task_columns_ = schedule.task_panels * schedule.panel_columns();
  }

  std::string write() {
    text_.paste(vector_vocabulary(schedule_.isa));
    text_.paste(epilogue_text(epilogue_, schedule_.isa, DType::f32));
    write_input_transform();
    const int rest = static_cast<int>(schedule_.block_tiles % schedule_.tile_rows);
    for (const int rows : {schedule_.tile_rows, rest}) {
      if (rows == 0 || (rows == schedule_.tile_rows && schedule_.block_tiles < rows)) continue;
      if (panels_ > 1 || edge_vectors_ == schedule_.tile_vectors) write_product(rows, schedule_.tile_vectors);
      if (edge_vectors_ != schedule_.tile_vectors) write_product(rows, edge_vectors_);
    }
    write_output_transform();
    write_entry();
    return text_.take();
  }

 private:
  int side() const { return schedule_.input_tile(); }
  int lanes() const { return schedule_.isa.lanes; }
  int64_t tiles_across() const { return divide_up(shape_.across.out, schedule_.output_tile); }
  int64_t image_tiles() const { return winograd_tiles(shape_, schedule_); }

  /// Declares the transform of x(0 … side - 1), one column or row of the input, as to(0 … side - 1). The rows of p and
  /// -p differ in the sign of their odd part alone, so each part is summed once.
  void write_input_line(const Name& x, const Name& to) {
    const auto all = winograd_even(squares_, squares_.size());
    text_.line("const vf {} = {};", to(0), every_second(all, 0, x));
    for (size_t i = 0; i < squares_.size(); ++i) {
      const auto rest = winograd_even(squares_, i);
      const std::string one = to(2 * i + 1), other = to(2 * i + 2);
      text_.line("const vf {0}_even = {1}, {0}_odd = {2};", one, every_second(rest, 2, x), every_second(rest, 1, x));
      const std::string odd = combination({{std::sqrt(squares_[i]), one + "_odd"}});
      text_.line("const vf {0} = {0}_even + {2}, {1} = {0}_even - {2};", one, other, odd);
    }
    text_.line("const vf {} = {};", to(2 * squares_.size() + 1), every_second(all, 1, x));
  }

  /// Declares the transform of s(0 … side - 1), one column or row of products, as to(0 … output_tile - 1).
  void write_output_line(const Name& s, const Name& to) {
    for (size_t i = 0; i < squares_.size(); ++i)
      text_.line("const vf {0}_sum{1} = {2} + {3}, {0}_difference{1} = {2} - {3};", to(0), i, s(2 * i + 1),
                 s(2 * i + 2));
    for (int power = 0; power < schedule_.output_tile; ++power) {
      std::vector<std::pair<double, std::string>> terms;
      if (power == 0) terms.emplace_back(1, s(0));
      for (size_t i = 0; i < squares_.size(); ++i)
        terms.emplace_back(std::pow(squares_[i], power / 2) * (power % 2 != 0 ? std::sqrt(squares_[i]) : 1),
                           fmt::format("{}_{}{}", to(0), power % 2 != 0 ? "difference" : "sum", i));
      if (power == schedule_.output_tile - 1) terms.emplace_back(1, s(2 * squares_.size() + 1));
      text_.line("const vf {} = {};", to(static_cast<size_t>(power)), combination(terms));
    }
  }

  void write_input_transform() {
    text_.line("// One tile of one vector of channels; pixels outside the image are zeros.");
    text_.open("template <bool edge> INLINE void transform_input(const float* src, long y, long x, float* to)");
    for (int i = 0; i < side(); ++i) {
      for (int j = 0; j < side(); ++j) {
        const int64_t at = i * shape_.src_strides.row + j * shape_.src_strides.pixel;
        text_.line("vf d{0}{1} = {{}};", i, j);
        text_.line(
            "if (!edge || (y + {0} >= 0 && y + {0} < {1} && x + {2} >= 0 && x + {2} < {3})) d{0}{2} = load<{4}>(src + "
            "{5});",
            i, shape_.down.in, j, shape_.across.in, lanes(), at);
      }
      write_input_line([&](size_t k) { return fmt::format("d{}{}", i, k); },
                       [&](size_t k) { return fmt::format("t{}{}", i, k); });
    }
    for (int j = 0; j < side(); ++j) {
      write_input_line([&](size_t k) { return fmt::format("t{}{}", k, j); },
                       [&](size_t k) { return fmt::format("u{}{}", k, j); });
      for (int i = 0; i < side(); ++i)
        text_.line("*(vf*)(to + {}) = u{}{};", (i * side() + j) * schedule_.block_tiles * shape_.in_channels, i, j);
    }
    text_.close();
    text_.blank();
  }

  /// Calls that pass one panel share out the next: in each step so many lines of it.
  int64_t fetched_lines() const {
    return divide_up(schedule_.panel_columns(), kLineFloats * divide_up(schedule_.block_tiles, schedule_.tile_rows));
  }

  void write_product(int rows, int vectors) {
    text_.open("static void product_{}x{}(const float* a, const float* panel, float* to{})", rows, vectors,
               schedule_.fetch_next ? ", const float* next" : "");
    for (int r = 0; r < rows; ++r) {
      std::string names;
      for (int v = 0; v < vectors; ++v) names += fmt::format("{}c{}_{} = {{}}", v ? ", " : "vf ", r, v);
      text_.line("{};", names);
    }
    text_.line("#pragma clang loop unroll_count(2)");
    text_.open("for (long k = 0; k < {}; ++k)", shape_.in_channels);
    for (int v = 0; v < vectors; ++v) text_.line("const vf b{0} = ((const vf*)panel)[{0}];", v);
    text_.line("panel += {};", vectors * lanes());
    if (schedule_.fetch_next) {
      for (int64_t line = 0; line < fetched_lines(); ++line)
        text_.line("__builtin_prefetch(next + {}, 0, 2);", line * kLineFloats);
      text_.line("next += {};", fetched_lines() * kLineFloats);
    }
    for (int r = 0; r < rows; ++r) {
      text_.line("const vf x{} = a[{} + k] - (vf){{}};", r, r * shape_.in_channels);
      for (int v = 0; v < vectors; ++v) text_.line("c{0}_{1} += x{0} * b{1};", r, v);
    }
    text_.close();
    for (int r = 0; r < rows; ++r)
      for (int v = 0; v < vectors; ++v) text_.line("*(vf*)(to + {}) = c{}_{};", r * task_columns_ + v * lanes(), r, v);
    text_.close();
    text_.blank();
  }

  void write_output_transform() {
    const int m = schedule_.output_tile;
    text_.line("// One tile of one vector of result channels.");
    text_.open(
        "template <bool edge> INLINE void transform_output(const float* from, float* dst, const Operands& with, long "
        "y, long x, long at, long column)");
    for (int j = 0; j < side(); ++j) {
      for (int i = 0; i < side(); ++i)
        text_.line("const vf s{}{} = *(const vf*)(from + {});", i, j,
                   (i * side() + j) * schedule_.block_tiles * task_columns_);
      write_output_line([&](size_t k) { return fmt::format("s{}{}", k, j); },
                        [&](size_t k) { return fmt::format("t{}{}", k, j); });
    }
    for (int i = 0; i < m; ++i) {
      write_output_line([&](size_t k) { return fmt::format("t{}{}", i, k); },
                        [&](size_t k) { return fmt::format("r{}{}", i, k); });
      for (int j = 0; j < m; ++j) {
        const int64_t offset = i * shape_.dst_strides.row + j * shape_.dst_strides.pixel;
        text_.line(
            "if (!edge || (y + {0} < {1} && x + {2} < {3})) store<{4}>(dst + at + {5}, finish<{4}>(r{0}{2}, with, at + "
            "{5}, column));",
            i, shape_.down.out, j, shape_.across.out, lanes(), offset);
      }
    }
    text_.close();
    text_.blank();
  }

  /// Where channel c of a pixel lies; a block has as many channels as there are floats from pixel to pixel.
  static std::string place_of_channel(const PixelStrides& strides) {
    if (strides.block == 0) return "c";
    return fmt::format("c / {0} * {1} + c % {0}", strides.pixel, strides.block);
  }

  /// Declares where tile number `tile` lies.
  void write_tile_place() {
    text_.line("const long image = tile / {0}, of_image = tile % {0};", image_tiles());
    text_.line("const long y = of_image / {0} * {1}, x = of_image % {0} * {1};", tiles_across(), schedule_.output_tile);
  }

  void write_entry() {
    const int64_t all = shape_.images * image_tiles();
    const int64_t ic = shape_.in_channels, oc = shape_.out_channels, block = schedule_.block_tiles;
    const DepthwiseAxis &down = shape_.down, &across = shape_.across;
    const int m = schedule_.output_tile;
    text_.open("extern \"C\" void {}({})", name_, kEntryParameters);
    text_.line("const float* src = (const float*)inputs[0];");
    text_.line("const Operands with = operands_of(inputs);");
    text_.line("float* dst = (float*)outputs[0];");
    text_.line("// Calls run at once with different first tasks, so each has scratch memory of its own.");
    text_.line("float* transformed = (float*)workspace + begin * {};", winograd_task_bytes(shape_, schedule_) / 4);
    text_.line("float* products = transformed + {};", block * schedule_.positions() * ic);
    text_.open("for (long task = begin; task < end; ++task)");
    // Columns vary slowest: threads that get neighbouring tasks share few weights.
    text_.line("const long tile_tasks = {};", divide_up(all, schedule_.task_tiles));
    text_.line("const long first = task % tile_tasks * {0}, last = first + {0} < {1} ? first + {0} : {1};",
               schedule_.task_tiles, all);
    text_.line(
        "const long first_panel = task / tile_tasks * {0}, end_panel = first_panel + {0} < {1} ? first_panel + {0} : "
        "{1};",
        schedule_.task_panels, panels_);
    text_.line("const long end_column = end_panel * {0} < {1} ? end_panel * {0} : {1};", schedule_.panel_columns(), oc);
    text_.open("for (long tiles = first; tiles < last; tiles += {})", block);
    text_.line("const long count = tiles + {0} < last ? {0} : last - tiles;", block);
    text_.open("for (long t = 0; t < count; ++t)");
    text_.line("const long tile = tiles + t;");
    write_tile_place();
    text_.line("const long top = y - {}, left = x - {};", down.pad, across.pad);
    text_.line("const float* from = src + image * {} + top * {} + left * {};", shape_.src_strides.image,
               shape_.src_strides.row, shape_.src_strides.pixel);
    text_.line("const bool inside = top >= 0 && left >= 0 && top + {0} <= {1} && left + {0} <= {2};", side(), down.in,
               across.in);
    text_.line(
        "if (inside) for (long c = 0; c < {0}; c += {1}) transform_input<false>(from + {2}, top, left, transformed + t "
        "* "
        "{0} + c);",
        ic, lanes(), place_of_channel(shape_.src_strides));
    text_.line(
        "else for (long c = 0; c < {0}; c += {1}) transform_input<true>(from + {2}, top, left, transformed + t * {0} + "
        "c);",
        ic, lanes(), place_of_channel(shape_.src_strides));
    text_.close();
    text_.open("for (long position = 0; position < {}; ++position)", schedule_.positions());
    text_.line("const float* a = transformed + position * {};", block * ic);
    text_.line("float* to = products + position * {};", block * task_columns_);
    text_.line("const float* weights = (const float*)prepared[0] + position * {};", ic * oc);
    text_.open("for (long panel = first_panel; panel < end_panel; ++panel)");
    text_.line("const float* w = weights + panel * {};", ic * schedule_.panel_columns());
    text_.line("float* p = to + (panel - first_panel) * {};", schedule_.panel_columns());
    if (schedule_.fetch_next)
      text_.line("const float* next = panel + 1 < end_panel ? w + {} : weights + {} + first_panel * {};",
                 ic * schedule_.panel_columns(), ic * oc, ic * schedule_.panel_columns());
    const auto rows_with = [&](int vectors) {
      const int64_t whole = block / schedule_.tile_rows * schedule_.tile_rows, rest = block - whole;
      const int64_t fetched = ic * fetched_lines() * kLineFloats;  // by one call
      const std::string next =
          schedule_.fetch_next ? fmt::format(", next + r / {} * {}", schedule_.tile_rows, fetched) : "";
      if (whole > 0)
        text_.line("for (long r = 0; r < {0}; r += {1}) product_{1}x{2}(a + r * {3}, w, p + r * {4}{5});", whole,
                   schedule_.tile_rows, vectors, ic, task_columns_, next);
      if (rest > 0)
        text_.line("product_{}x{}(a + {}, w, p + {}{});", rest, vectors, whole * ic, whole * task_columns_,
                   schedule_.fetch_next ? fmt::format(", next + {}", whole / schedule_.tile_rows * fetched) : "");
    };
    if (edge_vectors_ == schedule_.tile_vectors) {
      rows_with(schedule_.tile_vectors);
    } else if (panels_ == 1) {
      rows_with(edge_vectors_);
    } else {
      text_.open("if (panel < {})", panels_ - 1);
      rows_with(schedule_.tile_vectors);
      text_.close(" else");
      text_.open("");
      rows_with(edge_vectors_);
      text_.close();
    }
    text_.close();
    text_.close();
    text_.open("for (long t = 0; t < count; ++t)");
    text_.line("const long tile = tiles + t;");
    write_tile_place();
    text_.line("const long first_column = first_panel * {};", schedule_.panel_columns());
    text_.line("const long at = image * {} + y * {} + x * {};", shape_.dst_strides.image, shape_.dst_strides.row,
               shape_.dst_strides.pixel);
    text_.line("const bool inside = y + {0} <= {1} && x + {0} <= {2};", m, down.out, across.out);
    text_.open("for (long c = first_column; c < end_column; c += {})", lanes());
    text_.line("const float* from = products + t * {} + c - first_column;", task_columns_);
    text_.line("const long place = at + {};", place_of_channel(shape_.dst_strides));
    text_.line("if (inside) transform_output<false>(from, dst, with, y, x, place, c);");
    text_.line("else transform_output<true>(from, dst, with, y, x, place, c);");
    text_.close();
    text_.close();
    text_.close();
    text_.close();
    text_.close();
  }

  std::string name_;
  const WinogradShape& shape_;
  const WinogradSchedule& schedule_;
  const Epilogue& epilogue_;
  std::vector<double> squares_;  // of the points
  Text text_;
  int64_t panels_ = 0, task_columns_ = 0;
  int edge_vectors_ = 0;
};

}  // namespace

std::string winograd_text(const std::string& name, const WinogradShape& shape, const WinogradSchedule& schedule,
                          const Epilogue& epilogue) {
  return Writer(name, shape, schedule, epilogue).write();
}

}  // namespace attune::cube
