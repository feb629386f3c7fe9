#include "codegen/cube/task_grid.h"
#include "codegen/cube/text.h"
#include "codegen/cube/winograd.h"

#include <cmath>
#include <functional>

namespace attune::cube {
namespace {

/// "4.f * d0 - 5.f * d2 + d4" for a row of a transform.
std::string combination(const std::vector<double>& row, const std::function<std::string(size_t)>& name) {
  std::string out;
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i] == 0) continue;
    const double size = std::abs(row[i]);
    out += out.empty() ? (row[i] < 0 ? "-" : "") : (row[i] < 0 ? " - " : " + ");
    out += size == 1 ? name(i) : fmt::format("{}.f * {}", size, name(i));
  }
  return out;
}

class Writer {
 public:
  Writer(const std::string& name, const WinogradShape& shape, const WinogradSchedule& schedule,
         const Epilogue& epilogue)
      : name_(name),
        shape_(shape),
        schedule_(schedule),
        epilogue_(epilogue),
        matrices_(winograd_matrices(schedule.output_tile)) {
    panels_ = divide_up(shape.out_channels, schedule.panel_columns());
    edge_vectors_ =
        static_cast<int>((shape.out_channels - (panels_ - 1) * schedule.panel_columns()) / schedule.isa.lanes);
    task_columns_ = schedule.task_panels * schedule.panel_columns();
  }

  std::string write() {
    text_.paste(vector_vocabulary(schedule_.isa));
    text_.paste(epilogue_text(epilogue_));
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

  void write_input_transform() {
    text_.line("// One tile of one vector of channels; pixels outside the image are zeros.");
    text_.open("template <bool edge> INLINE void transform_input(const float* src, long y, long x, float* to)");
    for (int i = 0; i < side(); ++i) {
      for (int j = 0; j < side(); ++j) {
        const int64_t at = i * shape_.across.in * shape_.in_channels + j * shape_.in_channels;
        text_.line("vf d{0}{1} = {{}};", i, j);
        text_.line(
            "if (!edge || (y + {0} >= 0 && y + {0} < {1} && x + {2} >= 0 && x + {2} < {3})) d{0}{2} = load<{4}>(src + "
            "{5});",
            i, shape_.down.in, j, shape_.across.in, lanes(), at);
      }
      for (int j = 0; j < side(); ++j)
        text_.line("const vf t{}{} = {};", i, j, combination(matrices_.input[static_cast<size_t>(j)], [&](size_t k) {
                     return fmt::format("d{}{}", i, k);
                   }));
    }
    for (int j = 0; j < side(); ++j)
      for (int i = 0; i < side(); ++i)
        text_.line(
            "*(vf*)(to + {}) = {};", (i * side() + j) * schedule_.block_tiles * shape_.in_channels,
            combination(matrices_.input[static_cast<size_t>(i)], [&](size_t k) { return fmt::format("t{}{}", k, j); }));
    text_.close();
    text_.blank();
  }

  void write_product(int rows, int vectors) {
    text_.open("static void product_{}x{}(const float* a, const float* panel, float* to)", rows, vectors);
    for (int r = 0; r < rows; ++r) {
      std::string names;
      for (int v = 0; v < vectors; ++v) names += fmt::format("{}c{}_{} = {{}}", v ? ", " : "vf ", r, v);
      text_.line("{};", names);
    }
    text_.line("#pragma clang loop unroll_count(2)");
    text_.open("for (long k = 0; k < {}; ++k)", shape_.in_channels);
    for (int v = 0; v < vectors; ++v) text_.line("const vf b{0} = ((const vf*)panel)[{0}];", v);
    text_.line("panel += {};", vectors * lanes());
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
      for (int i = 0; i < m; ++i)
        text_.line("const vf t{}{} = {};", i, j, combination(matrices_.output[static_cast<size_t>(i)], [&](size_t k) {
                     return fmt::format("s{}{}", k, j);
                   }));
    }
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j) {
        const int64_t offset = (i * shape_.across.out + j) * shape_.out_channels;
        text_.line(
            "if (!edge || (y + {0} < {1} && x + {2} < {3})) store<{4}>(dst + at + {5}, finish<{4}>({6}, with, at + "
            "{5}, column));",
            i, shape_.down.out, j, shape_.across.out, lanes(), offset,
            combination(matrices_.output[static_cast<size_t>(j)],
                        [&](size_t k) { return fmt::format("t{}{}", i, k); }));
      }
    text_.close();
    text_.blank();
  }

  /// Declares where tile number `tile` lies.
  void write_tile_place() {
    text_.line("const long image = tile / {0}, place = tile % {0};", image_tiles());
    text_.line("const long y = place / {0} * {1}, x = place % {0} * {1};", tiles_across(), schedule_.output_tile);
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
    text_.line("const float* from = src + ((image * {0} + top) * {1} + left) * {2};", down.in, across.in, ic);
    text_.line("const bool inside = top >= 0 && left >= 0 && top + {0} <= {1} && left + {0} <= {2};", side(), down.in,
               across.in);
    text_.line(
        "if (inside) for (long c = 0; c < {0}; c += {1}) transform_input<false>(from + c, top, left, transformed + t * "
        "{0} + c);",
        ic, lanes());
    text_.line(
        "else for (long c = 0; c < {0}; c += {1}) transform_input<true>(from + c, top, left, transformed + t * {0} + "
        "c);",
        ic, lanes());
    text_.close();
    text_.open("for (long position = 0; position < {}; ++position)", schedule_.positions());
    text_.line("const float* a = transformed + position * {};", block * ic);
    text_.line("float* to = products + position * {};", block * task_columns_);
    text_.line("const float* weights = (const float*)prepared[0] + position * {};", ic * oc);
    text_.open("for (long panel = first_panel; panel < end_panel; ++panel)");
    text_.line("const float* w = weights + panel * {};", ic * schedule_.panel_columns());
    text_.line("float* p = to + (panel - first_panel) * {};", schedule_.panel_columns());
    const auto rows_with = [&](int vectors) {
      const int64_t whole = block / schedule_.tile_rows * schedule_.tile_rows, rest = block - whole;
      if (whole > 0)
        text_.line("for (long r = 0; r < {0}; r += {1}) product_{1}x{2}(a + r * {3}, w, p + r * {4});", whole,
                   schedule_.tile_rows, vectors, ic, task_columns_);
      if (rest > 0) text_.line("product_{}x{}(a + {}, w, p + {});", rest, vectors, whole * ic, whole * task_columns_);
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
    text_.line("const long at = ((image * {} + y) * {} + x) * {};", down.out, across.out, oc);
    text_.line("const bool inside = y + {0} <= {1} && x + {0} <= {2};", m, down.out, across.out);
    text_.open("for (long c = first_column; c < end_column; c += {})", lanes());
    text_.line("const float* from = products + t * {} + c - first_column;", task_columns_);
    text_.line("if (inside) transform_output<false>(from, dst, with, y, x, at + c, c);");
    text_.line("else transform_output<true>(from, dst, with, y, x, at + c, c);");
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
  WinogradMatrices matrices_;
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
