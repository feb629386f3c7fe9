#include "codegen/cube/depthwise.h"
#include "codegen/cube/task_grid.h"
#include "codegen/cube/text.h"

#include <vector>

namespace attune::cube {
namespace {

/// Neighbouring output columns; `repeat` such groups one after the other when none of them touches the padding.
struct ColumnTile {
  int64_t begin = 0, width = 0, repeat = 1;
  bool inside = false;
};

class Writer {
 public:
  Writer(const std::string& name, const DepthwiseShape& shape, const DepthwiseSchedule& schedule,
         const Epilogue& epilogue)
      : name_(name), shape_(shape), schedule_(schedule), epilogue_(epilogue) {}

  std::string write() {
    text_.paste(vector_vocabulary(schedule_.isa));
    text_.paste(epilogue_text(epilogue_, schedule_.isa, shape_.dst));
    text_.open("struct Arguments");
    text_.line("const {}* src;", element_name(shape_.src));
    text_.line("const float* filters;");
    text_.line("{}* dst;", element_name(shape_.dst));
    text_.line("Operands with;");
    text_.close(";");
    text_.blank();
    write_block();
    write_entry();
    return text_.take();
  }

 private:
  int64_t lanes() const { return schedule_.isa.lanes; }
  int64_t blocks() const { return divide_up(shape_.channels, lanes()); }
  int64_t taps() const { return shape_.down.kernel * shape_.across.kernel; }

  int64_t block_stride(const PixelStrides& strides) const { return strides.block > 0 ? strides.block : lanes(); }

  /// Input column of a tap of an output column, without the padding.
  int64_t column_of(int64_t out, int64_t tap) const {
    return out * shape_.across.stride - shape_.across.pad + tap * shape_.across.dilation;
  }
  bool is_inside(int64_t begin, int64_t width) const {
    return column_of(begin, 0) >= 0 && column_of(begin + width - 1, shape_.across.kernel - 1) < shape_.across.in;
  }

  std::vector<ColumnTile> column_tiles() const {
    std::vector<ColumnTile> tiles;
    for (int64_t begin = 0; begin < shape_.across.out;) {
      const int64_t width = std::min<int64_t>(schedule_.tile_pixels, shape_.across.out - begin);
      const bool inside = is_inside(begin, width);
      if (inside && !tiles.empty() && tiles.back().inside && tiles.back().width == width)
        ++tiles.back().repeat;
      else
        tiles.push_back({begin, width, 1, inside});
      begin += width;
    }
    return tiles;
  }

  void write_block() {
    text_.line("// Output rows [first, end) of one image and one block of channels, of which N are there.");
    text_.open("template <int N> static void block(const Arguments& g, long image, long first, long end, long block)");
    text_.line("const {}* src = g.src + image * {} + block * {};", element_name(shape_.src), shape_.src_strides.image,
               block_stride(shape_.src_strides));
    text_.line("const vf* filters = (const vf*)g.filters + block * {};", taps());
    for (int64_t t = 0; t < taps(); ++t)
      text_.line("const vf w{}_{} = filters[{}];", t / shape_.across.kernel, t % shape_.across.kernel, t);
    text_.open("for (long row = first; row < end; ++row)");
    text_.line("const long row_at = image * {} + row * {} + block * {};", shape_.dst_strides.image,
               shape_.dst_strides.row, block_stride(shape_.dst_strides));
    for (int64_t i = 0; i < shape_.down.kernel; ++i) {
      text_.line("const long y{} = row * {} + {};", i, shape_.down.stride, i * shape_.down.dilation - shape_.down.pad);
      text_.line("const {}* x{} = src + y{} * {};", element_name(shape_.src), i, i, shape_.src_strides.row);
    }
    for (const ColumnTile& tile : column_tiles()) write_tile(tile);
    text_.close();
    text_.close();
    text_.blank();
  }

  void write_tile(const ColumnTile& tile) {
    if (tile.repeat > 1)
      text_.open("for (long column = {}; column < {}; column += {})", tile.begin, tile.begin + tile.repeat * tile.width,
                 tile.width);
    else
      text_.open("");
    // Input columns count from tap 0 of the tile's first pixel.
    const int64_t left = column_of(tile.begin, 0);
    const std::string at = tile.repeat > 1 ? fmt::format("(column * {} - {}) * {}", shape_.across.stride,
                                                         shape_.across.pad, shape_.src_strides.pixel)
                                           : std::to_string(left * shape_.src_strides.pixel);
    std::string names;
    for (int64_t t = 0; t < tile.width; ++t) names += fmt::format("{}c{} = {{}}", t ? ", " : "vf ", t);
    text_.line("{};", names);
    for (int64_t i = 0; i < shape_.down.kernel; ++i) {
      text_.open("if (y{0} >= 0 && y{0} < {1})", i, shape_.down.in);
      text_.line("const {}* x = x{} + {};", element_name(shape_.src), i, at);
      write_filter_row(tile, i, left);
      text_.close();
    }
    text_.line("const long at = row_at + {} * {};", tile.repeat > 1 ? "column" : std::to_string(tile.begin),
               shape_.dst_strides.pixel);
    for (int64_t t = 0; t < tile.width; ++t) write_result(t);
    text_.close();
  }

  /// One row of the filter over a tile: each input column is read once, for all taps that meet it.
  void write_filter_row(const ColumnTile& tile, int64_t i, int64_t left) {
    const DepthwiseAxis& axis = shape_.across;
    const int64_t span = (tile.width - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
    for (int64_t j = 0; j < span; ++j) {
      if (!tile.inside && (left + j < 0 || left + j >= axis.in)) continue;
      bool loaded = false;
      for (int64_t k = 0; k < axis.kernel; ++k) {
        const int64_t from_tap = j - k * axis.dilation;
        if (from_tap < 0 || from_tap % axis.stride != 0 || from_tap / axis.stride >= tile.width) continue;
        if (!loaded) text_.line("const vf p{0} = load<N>(x + {1});", j, j * shape_.src_strides.pixel);
        loaded = true;
        text_.line("c{} += p{} * w{}_{};", from_tap / axis.stride, j, i, k);
      }
    }
  }

  void write_result(int64_t t) {
    const int64_t offset = t * shape_.dst_strides.pixel;
    const std::string done = fmt::format("finish<N>(c{}, g.with, at + {}, block * {})", t, offset, lanes());
    if (!shape_.padded_channels)
      text_.line("store<N>(g.dst + at + {}, {});", offset, done);
    else
      text_.line("store<{0}>(g.dst + at + {1}, first_lanes<N>({2}));", lanes(), offset, done);
  }

  void write_entry() {
    const int64_t row_tasks = divide_up(shape_.down.out, schedule_.task_rows);
    const int64_t block_tasks = divide_up(blocks(), schedule_.task_blocks);
    text_.open("extern \"C\" void {}({})", name_, kEntryParameters);
    text_.line("(void)workspace;");
    text_.line(
        "const Arguments g = {{(const {}*)inputs[0], (const float*)prepared[0], ({}*)outputs[0], "
        "operands_of(inputs)}};",
        element_name(shape_.src), element_name(shape_.dst));
    text_.open("for (long task = begin; task < end; ++task)");
    text_.line("const long image = task / {}, row_task = task / {} % {}, block_task = task % {};",
               row_tasks * block_tasks, block_tasks, row_tasks, block_tasks);
    const auto range = [&](const char* what, const char* of, int64_t step, int64_t all) {
      text_.line("const long first_{0} = {1} * {2}, end_{0} = first_{0} + {2} < {3} ? first_{0} + {2} : {3};", what, of,
                 step, all);
    };
    range("row", "row_task", schedule_.task_rows, shape_.down.out);
    range("block", "block_task", schedule_.task_blocks, blocks());
    text_.open("for (long b = first_block; b < end_block; ++b)");
    const int64_t rest = shape_.channels % lanes();
    if (rest == 0) {
      text_.line("block<{}>(g, image, first_row, end_row, b);", lanes());
    } else {
      if (blocks() > 1) text_.line("if (b < {}) block<{}>(g, image, first_row, end_row, b);", blocks() - 1, lanes());
      text_.line("{}block<{}>(g, image, first_row, end_row, b);", blocks() > 1 ? "else " : "", rest);
    }
    text_.close();
    text_.close();
    text_.close();
  }

  std::string name_;
  const DepthwiseShape& shape_;
  const DepthwiseSchedule& schedule_;
  const Epilogue& epilogue_;
  Text text_;
};

}  // namespace

std::string depthwise_text(const std::string& name, const DepthwiseShape& shape, const DepthwiseSchedule& schedule,
                           const Epilogue& epilogue) {
  return Writer(name, shape, schedule, epilogue).write();
}

int64_t depthwise_tasks(const DepthwiseShape& shape, const DepthwiseSchedule& schedule) {
  return shape.images * divide_up(shape.down.out, schedule.task_rows) *
         divide_up(divide_up(shape.channels, schedule.isa.lanes), schedule.task_blocks);
}

}  // namespace attune::cube
