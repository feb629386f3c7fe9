#include "codegen/cube/task_grid.h"
#include "codegen/cube/text.h"
#include "codegen/cube/weight_gradient.h"

#include <algorithm>
#include <vector>

namespace attune::cube {
namespace {

constexpr const char* kScalars = R"(
INLINE float value(float x) { return x; }
INLINE float value(bf16 x) {
  const unsigned bits = (unsigned)x << 16;
  float result;
  __builtin_memcpy(&result, &bits, 4);
  return result;
}
)";

/// A tile that is not whole at the end of the channels.
struct TileSize {
  int64_t rows, columns;
};

class Writer {
 public:
  Writer(const std::string& name, const WeightGradientShape& shape, const WeightGradientSchedule& schedule)
      : name_(name), shape_(shape), schedule_(schedule) {}

  std::string write() {
    text_.paste(vector_vocabulary(schedule_.isa));
    text_.paste(kScalars);
    text_.blank();
    for (const int64_t rows : row_sizes())
      for (const int64_t columns : column_sizes()) write_tile({rows, columns});
    if (shape_.bias) write_bias();
    write_entry();
    return text_.take();
  }

 private:
  int64_t lanes() const { return schedule_.isa.lanes; }
  int64_t taps() const { return shape_.down.kernel * shape_.across.kernel; }
  int64_t src_pixel() const { return shape_.groups * shape_.in_channels; }
  int64_t dst_pixel() const { return shape_.groups * shape_.out_channels; }

  /// Of whole tiles and of the last one.
  static std::vector<int64_t> sizes(int64_t all, int64_t tile) {
    std::vector<int64_t> result;
    if (all >= tile) result.push_back(tile);
    if (all % tile != 0) result.push_back(all % tile);
    return result;
  }
  std::vector<int64_t> row_sizes() const { return sizes(shape_.out_channels, schedule_.tile_rows); }
  std::vector<int64_t> column_sizes() const { return sizes(shape_.in_channels, schedule_.tile_columns()); }

  void write_tile(const TileSize& size) {
    const int64_t vectors = divide_up(size.columns, lanes());
    const auto in_vector = [&](int64_t v) { return std::min(lanes(), size.columns - v * lanes()); };
    const auto each = [&](auto&& write) {
      for (int64_t r = 0; r < size.rows; ++r)
        for (int64_t v = 0; v < vectors; ++v) write(r, v);
    };
    text_.line("// {} output by {} input channels: `width` pixels of each of the rows [first, end), whose tap reads",
               size.rows, size.columns);
    text_.line("// row * {} + shift.", shape_.down.stride);
    text_.open(
        "static void tile_{}x{}(const {}* src, const {}* diff, float* sums, long first, long end, long shift, "
        "long width)",
        size.rows, size.columns, element_name(shape_.src), element_name(shape_.src));
    each([&](int64_t r, int64_t v) {
      text_.line("vf c{}_{} = *(const vf_at*)(sums + {});", r, v, r * schedule_.task_columns + v * lanes());
    });
    text_.open("for (long row = first; row < end; ++row)");
    text_.line("const long y = row * {} + shift;", shape_.down.stride);
    text_.line("if (y < 0 || y >= {}) continue;", shape_.down.in);
    text_.line("const {}* x = src + y * {};", element_name(shape_.src), shape_.across.in * src_pixel());
    text_.line("const {}* d = diff + row * {};", element_name(shape_.src), shape_.across.out * dst_pixel());
    text_.open("for (long i = 0; i < width; ++i, x += {}, d += {})", shape_.across.stride * src_pixel(), dst_pixel());
    for (int64_t v = 0; v < vectors; ++v) text_.line("const vf x{} = load<{}>(x + {});", v, in_vector(v), v * lanes());
    for (int64_t r = 0; r < size.rows; ++r) {
      text_.line("const vf d{0} = splat(value(d[{0}]));", r);
      for (int64_t v = 0; v < vectors; ++v) text_.line("c{0}_{1} += d{0} * x{1};", r, v);
    }
    text_.close();
    text_.close();
    each([&](int64_t r, int64_t v) {
      text_.line("*(vf_at*)(sums + {}) = c{}_{};", r * schedule_.task_columns + v * lanes(), r, v);
    });
    text_.close();
    text_.blank();
  }

  void write_bias() {
    text_.line("// The sum of N output channels over all pixels: rows first, so that the sums stay of one size.");
    text_.open("template <int N> static void add_up(const {}* diff, {}* result)", element_name(shape_.src),
               element_name(shape_.dst));
    text_.line("vf all = {{}};");
    text_.open("for (long row = 0; row < {}; ++row)", shape_.images * shape_.down.out);
    text_.line("vf sum = {{}};");
    text_.open("for (long i = 0; i < {}; ++i, diff += {})", shape_.across.out, dst_pixel());
    text_.line("sum += load<N>(diff);");
    text_.close();
    text_.line("all += sum;");
    text_.close();
    text_.line("store<N>(result, all);");
    text_.close();
    text_.blank();
  }

  /// The call for the tile at `row` and `column` of a group, whichever size it has.
  void write_calls() {
    const auto rows = row_sizes(), columns = column_sizes();
    for (const int64_t r : rows)
      for (const int64_t c : columns) {
        std::string condition;
        if (rows.size() > 1)
          condition = fmt::format("row {} {}", r == rows[0] ? "<" : ">=", last_begin(shape_.out_channels, rows[0]));
        if (columns.size() > 1)
          condition += fmt::format("{}column {} {}", condition.empty() ? "" : " && ",
                                   c == columns[0] ? "<" : ">=", last_begin(shape_.in_channels, columns[0]));
        text_.line(
            "{}tile_{}x{}(x + column, d + row, sums + (row - first_row) * {} + column - first_column, first, end, "
            "shift, width);",
            condition.empty() ? "" : "if (" + condition + ") ", r, c, schedule_.task_columns);
      }
  }
  static int64_t last_begin(int64_t all, int64_t tile) { return all / tile * tile; }

  void write_entry() {
    const int64_t row_tasks = divide_up(shape_.out_channels, schedule_.task_rows);
    const int64_t column_tasks = divide_up(shape_.in_channels, schedule_.task_columns);
    const std::string_view src = element_name(shape_.src), dst = element_name(shape_.dst);
    text_.open("extern \"C\" void {}({})", name_, kEntryParameters);
    text_.line("(void)prepared;");
    text_.line("(void)workspace;");
    text_.open("for (long task = begin; task < end; ++task)");
    text_.line("const long column_task = task % {}, row_task = task / {} % {};", column_tasks, column_tasks, row_tasks);
    text_.line("const long tap = task / {} % {}, group = task / {};", column_tasks * row_tasks, taps(),
               column_tasks * row_tasks * taps());
    const auto range = [&](const char* what, int64_t step, int64_t all) {
      text_.line("const long first_{0} = {0}_task * {1}, end_{0} = first_{0} + {1} < {2} ? first_{0} + {1} : {2};",
                 what, step, all);
    };
    range("row", schedule_.task_rows, shape_.out_channels);
    range("column", schedule_.task_columns, shape_.in_channels);
    text_.line("alignas(64) float sums[{}] = {{}};", schedule_.task_rows * schedule_.task_columns);
    text_.line("const {}* src = (const {}*)inputs[0] + group * {};", src, src, shape_.in_channels);
    text_.line("const {}* diff = (const {}*)inputs[1] + group * {};", src, src, shape_.out_channels);
    const DepthwiseAxis &down = shape_.down, &across = shape_.across;
    text_.line("const long shift = tap / {} * {} - {}, left = tap % {} * {} - {};", across.kernel, down.dilation,
               down.pad, across.kernel, across.dilation, across.pad);
    text_.line("// Pixels whose tap lies inside of the row.");
    text_.line("const long start = left < 0 ? (-left + {}) / {} : 0;", across.stride - 1, across.stride);
    text_.line("const long stop = left < {0} ? ({0} - 1 - left) / {1} + 1 : 0;", across.in, across.stride);
    text_.line("const long width = (stop < {0} ? stop : {0}) - start;", across.out);
    text_.open("for (long image = 0; image < {} && width > 0; ++image)", shape_.images);
    text_.line("const {}* x = src + image * {} + (start * {} + left) * {};", src, down.in * across.in * src_pixel(),
               across.stride, src_pixel());
    text_.line("const {}* d = diff + image * {} + start * {};", src, down.out * across.out * dst_pixel(), dst_pixel());
    text_.open("for (long first = 0; first < {}; first += {})", down.out, schedule_.band_rows);
    text_.line("const long end = first + {0} < {1} ? first + {0} : {1};", schedule_.band_rows, down.out);
    text_.open("for (long row = first_row; row < end_row; row += {})", schedule_.tile_rows);
    text_.open("for (long column = first_column; column < end_column; column += {})", schedule_.tile_columns());
    write_calls();
    text_.close();
    text_.close();
    text_.close();
    text_.close();
    text_.line("{}* weights = ({}*)outputs[0] + group * {} + tap;", dst, dst,
               shape_.out_channels * shape_.in_channels * taps());
    text_.line("for (long row = first_row; row < end_row; ++row)");
    text_.line("  for (long column = first_column; column < end_column; ++column)");
    text_.line("    store<1>(weights + (row * {} + column) * {},", shape_.in_channels, taps());
    text_.line("             splat(sums[(row - first_row) * {} + column - first_column]));", schedule_.task_columns);
    if (shape_.bias) write_bias_call();
    text_.close();
    text_.close();
  }

  void write_bias_call() {
    text_.open("if (tap == 0 && column_task == 0)");
    text_.line("{0}* bias = ({0}*)outputs[1] + group * {1};", element_name(shape_.dst), shape_.out_channels);
    text_.line("long row = first_row;");
    text_.line("for (; row + {0} <= end_row; row += {0}) add_up<{0}>(diff + row, bias + row);", lanes());
    text_.line("for (; row < end_row; ++row) add_up<1>(diff + row, bias + row);");
    text_.close();
  }

  std::string name_;
  const WeightGradientShape& shape_;
  const WeightGradientSchedule& schedule_;
  Text text_;
};

}  // namespace

std::string weight_gradient_text(const std::string& name, const WeightGradientShape& shape,
                                 const WeightGradientSchedule& schedule) {
  return Writer(name, shape, schedule).write();
}

int64_t weight_gradient_tasks(const WeightGradientShape& shape, const WeightGradientSchedule& schedule) {
  return shape.groups * shape.down.kernel * shape.across.kernel * divide_up(shape.out_channels, schedule.task_rows) *
         divide_up(shape.in_channels, schedule.task_columns);
}

}  // namespace attune::cube
