#include "codegen/cube/band.h"
#include "codegen/cube/band_copy.h"
#include "codegen/cube/task_grid.h"
#include "codegen/cube/text.h"

#include <algorithm>

namespace attune::cube {
namespace {

/// Elements that tiles may read behind the last row, for pixels that are dropped.
int64_t band_slack(const BandShape& shape) { return 16 * shape.across.stride * shape.band_channels; }

class Writer {
 public:
  Writer(const std::string& name, const BandShape& shape, const BandSchedule& schedule, const Epilogue& epilogue)
      : name_(name), shape_(shape), schedule_(schedule), epilogue_(epilogue) {
    panels_ = divide_up(shape.product.columns, schedule.panel_columns());
    const int64_t last_columns = shape.product.columns - (panels_ - 1) * schedule.panel_columns();
    edge_across_ = static_cast<int>(divide_up(last_columns, 16));
    edge_lanes_ = static_cast<int>(last_columns - (edge_across_ - 1) * 16);
    row_tiles_ = divide_up(shape.across.out, schedule.tile_pixels);
  }

  std::string write() {
    text_.paste(vector_vocabulary(kTileVectors));
    text_.paste(epilogue_text(epilogue_, kTileVectors, shape_.product.dst));
    text_.open("struct Arguments");
    text_.line("const bf16* src;");
    text_.line("{}* dst;", element_name(shape_.product.dst));
    text_.line("Operands with;");
    text_.line("bf16* band;");
    text_.close(";");
    text_.line(
        "struct TileConfig {{ unsigned char palette, start, reserved[14]; unsigned short row_bytes[16]; unsigned char "
        "rows[16]; }};");
    write_config();
    text_.blank();
    write_band_copy(text_, shape_, band_slack(shape_));
    for (int down = 1; down <= schedule_.tiles_down; ++down) {
      if (panels_ > 1 || !edge_panel()) write_block(down, schedule_.tiles_across, 16);
      if (edge_panel()) write_block(down, edge_across_, edge_lanes_);
    }
    write_entry();
    return text_.take();
  }

 private:
  bool edge_panel() const { return edge_across_ != schedule_.tiles_across || edge_lanes_ != 16; }
  int64_t depth_tiles() const { return shape_.product.depth / shape_.step_depth; }
  int64_t tile_size() const { return shape_.step_depth * 16; }  // of weights, in elements
  int64_t steps() const { return depth_tiles() * shape_.product.taps; }
  int64_t panel_size() const { return steps() * schedule_.tiles_across * tile_size(); }
  int64_t group_size() const { return ((panels_ - 1) * schedule_.tiles_across + edge_across_) * steps() * tile_size(); }
  int row_tile(int i) const { return schedule_.tiles_down * schedule_.tiles_across + i; }
  int weights_tile(int j) const {
    const int down = schedule_.tiles_down, across = schedule_.tiles_across;
    return row_tile(down) + (down * across + down + across <= 8 ? j : 0);
  }

  void write_config() {
    std::string bytes, rows;
    for (int t = 0; t < 8; ++t) {
      const bool of_rows = t >= row_tile(0) && t < weights_tile(0);
      bytes += fmt::format("{}{}", t ? ", " : "", of_rows ? shape_.step_depth * 2 : 64);
      rows += fmt::format("{}{}", t ? ", " : "", t < weights_tile(0) ? schedule_.tile_pixels : shape_.step_depth / 2);
    }
    text_.line("static const TileConfig config __attribute__((aligned(64))) = {{1, 0, {{}}, {{{}}}, {{{}}}}};", bytes,
               rows);
  }

  void write_block(int down, int across, int last_lanes) {
    text_.line("// {} tiles of pixels from tile `first_tile` of the band on.", down);
    text_.open(
        "static void block_{}_{}_{}(const Arguments& g, long row_at, long first_tile, {}long group, long column, const "
        "bf16* panel)",
        down, across, last_lanes, schedule_.joined ? "long rows, " : "");
    text_.line("float sums[{}] __attribute__((aligned(64)));", 16 * across * 16 * down);
    for (int i = 0; i < down; ++i) write_first_pixel(i);
    write_products(down, across);
    for (int i = 0; i < down; ++i)
      for (int j = 0; j < across; ++j)
        text_.line("__builtin_ia32_tilestored64({}, sums + {}, {});", tile_of_sums(i, j), i * 16 * across * 16 + j * 16,
                   across * 64);
    for (int i = 0; i < down; ++i) write_results(i, across, last_lanes);
    text_.close();
    text_.blank();
  }

  int tile_of_sums(int i, int j) const { return i * schedule_.tiles_across + j; }

  /// Where tile i begins: at which pixel of which output row, and where in the band.
  void write_first_pixel(int i) {
    const int64_t pixels = schedule_.tile_pixels;
    if (schedule_.joined)
      text_.line("const long first{0} = (first_tile + {0}) * {1}, row{0} = first{0} / {2}, pixel{0} = first{0} % {2};",
                 i, pixels, band_width(shape_));
    else
      text_.line("const long row{0} = (first_tile + {0}) / {1}, pixel{0} = (first_tile + {0}) % {1} * {2};", i,
                 row_tiles_, pixels);
    text_.line("const bf16* a{0} = g.band + row{0} * {1} + pixel{0} * {2} + group * {3};", i,
               band_row(shape_) * shape_.down.stride, shape_.across.stride * shape_.band_channels,
               shape_.product.depth);
  }

  void write_products(int down, int across) {
    for (int i = 0; i < down; ++i)
      for (int j = 0; j < across; ++j) text_.line("__builtin_ia32_tilezero({});", tile_of_sums(i, j));
    const int64_t kernel_across = shape_.merged ? 1 : shape_.across.kernel;
    text_.open("for (long y = 0; y < {}; ++y)", shape_.down.kernel);
    if (kernel_across > 1) text_.open("for (long x = 0; x < {}; ++x)", kernel_across);
    text_.line("const long tap = y * {}{};", band_row(shape_) * shape_.down.dilation,
               kernel_across > 1 ? fmt::format(" + x * {}", shape_.across.dilation * shape_.band_channels) : "");
    text_.open("for (long k = 0; k < {}; ++k)", depth_tiles());
    for (int i = 0; i < down; ++i)
      text_.line("__builtin_ia32_tileloadd64({}, a{} + tap + k * {}, {});", row_tile(i), i, shape_.step_depth,
                 shape_.across.stride * shape_.band_channels * 2);
    for (int j = 0; j < across; ++j) {
      text_.line("__builtin_ia32_tileloadd64({}, panel + {}, 64);", weights_tile(j), j * tile_size());
      for (int i = 0; i < down; ++i)
        text_.line("__builtin_ia32_tdpbf16ps({}, {}, {});", tile_of_sums(i, j), row_tile(i), weights_tile(j));
    }
    text_.line("panel += {};", across * tile_size());
    text_.close();
    if (kernel_across > 1) text_.close();
    text_.close();
  }

  /// Sums of tile i to results, but for pixels that are none.
  void write_results(int i, int across, int last_lanes) {
    const int64_t pixels = schedule_.tile_pixels, out = shape_.across.out;
    if (schedule_.joined) {
      text_.line("long y{0} = row{0}, x{0} = pixel{0};", i);
      text_.open("for (long r = 0; r < {0} && y{1} < rows; ++r, ++x{1})", pixels, i);
      text_.open("if (x{} == {})", i, band_width(shape_));
      text_.line("x{} = 0;", i);
      text_.line("if (++y{} == rows) break;", i);
      text_.close();
      text_.line("if (x{} >= {}) continue;", i, out);
      text_.line("const long at = ((row_at + y{0}) * {1} + x{0}) * {2} + column;", i, out, shape_.product.dst_stride);
    } else {
      const bool exact = out % pixels == 0;
      if (!exact)
        text_.line("const long rest{0} = {1} - pixel{0}, count{0} = rest{0} < {2} ? rest{0} : {2};", i, out, pixels);
      text_.open("for (long r = 0; r < {}; ++r)", exact ? std::to_string(pixels) : fmt::format("count{}", i));
      text_.line("const long at = ((row_at + row{0}) * {1} + pixel{0} + r) * {2} + column;", i, out,
                 shape_.product.dst_stride);
    }
    text_.line("const float* sum = sums + {} + r * {};", i * 16 * across * 16, across * 16);
    for (int j = 0; j < across; ++j)
      text_.line("store<{0}>(g.dst + at + {1}, finish<{0}>(*(const vf*)(sum + {1}), g.with, at + {1}, column + {1}));",
                 j + 1 == across ? last_lanes : 16, j * 16);
    text_.close();
  }

  void write_call(int down) {
    const auto call = [&](int across, int lanes) {
      text_.line("block_{}_{}_{}(g, row_at, tile, {}group, group * {} + panel * {}, weights + panel * {});", down,
                 across, lanes, schedule_.joined ? "rows, " : "", shape_.product.columns, schedule_.panel_columns(),
                 panel_size());
    };
    if (edge_panel() && panels_ > 1) {
      text_.open("if (panel < {})", panels_ - 1);
      call(schedule_.tiles_across, 16);
      text_.close(" else");
      text_.open("");
      call(edge_across_, edge_lanes_);
      text_.close();
    } else if (edge_panel()) {
      call(edge_across_, edge_lanes_);
    } else {
      call(schedule_.tiles_across, 16);
    }
  }

  void write_entry() {
    const int64_t bands = divide_up(shape_.down.out, schedule_.band_rows),
                  panel_tasks = divide_up(panels_, schedule_.task_panels);
    text_.open("extern \"C\" void {}({})", name_, kEntryParameters);
    text_.line("(void)workspace;");
    text_.line("bf16 band[{}] __attribute__((aligned(64)));", band_bytes(shape_, schedule_.band_rows) / 2);
    text_.line("const Arguments g = {{(const bf16*)inputs[0], ({}*)outputs[0], operands_of(inputs), band}};",
               element_name(shape_.product.dst));
    text_.line("__builtin_ia32_tile_loadconfig(&config);");
    text_.line("long held = -1;  // the band that was copied last");
    text_.open("for (long task = begin; task < end; ++task)");
    // Panels vary fastest within a band, so that a thread copies each band once.
    text_.line("const long panel_task = task % {0}, group = task / {0} % {1}, which = task / {2};", panel_tasks,
               shape_.product.groups, panel_tasks * shape_.product.groups);
    text_.line("const long image = which / {0}, first_row = which % {0} * {1};", bands, schedule_.band_rows);
    text_.line("const long end_row = first_row + {0} < {1} ? first_row + {0} : {1};", schedule_.band_rows,
               shape_.down.out);
    text_.line("const long row_at = image * {} + first_row, rows = end_row - first_row;", shape_.down.out);
    if (schedule_.joined)  // what lies behind the last pixel of the last row is none
      text_.line("const long tiles = ((rows - 1) * {0} + {1} + {2} - 1) / {2};", band_width(shape_), shape_.across.out,
                 schedule_.tile_pixels);
    else
      text_.line("const long tiles = rows * {};", row_tiles_);
    text_.line(
        "const long first_panel = panel_task * {0}, end_panel = first_panel + {0} < {1} ? first_panel + {0} : {1};",
        schedule_.task_panels, panels_);
    text_.line("const bf16* weights = (const bf16*)prepared[0] + group * {};", group_size());
    text_.line("if (held != which) copy(g, image, first_row, end_row);");
    text_.line("held = which;");
    const std::string tile_loop = fmt::format("for (long tile = 0; tile < tiles; tile += {})", schedule_.tiles_down);
    const std::string panel_loop = "for (long panel = first_panel; panel < end_panel; ++panel)";
    const bool rows_inside = schedule_.inner == Axis::rows;
    text_.open("{}", rows_inside ? panel_loop : tile_loop);
    text_.open("{}", rows_inside ? tile_loop : panel_loop);
    for (int down = schedule_.tiles_down; down >= 1; --down) {
      text_.open("{}if (tile + {} <= tiles)", down < schedule_.tiles_down ? "else " : "", down);
      write_call(down);
      text_.close();
    }
    text_.close();
    text_.close();
    text_.close();
    text_.line("__builtin_ia32_tilerelease();");
    text_.close();
  }

  std::string name_;
  const BandShape& shape_;
  const BandSchedule& schedule_;
  const Epilogue& epilogue_;
  Text text_;
  int64_t panels_ = 0, row_tiles_ = 0;
  int edge_across_ = 0, edge_lanes_ = 0;
};

}  // namespace

int64_t band_bytes(const BandShape& shape, int64_t band_rows) {
  return (band_height(shape, band_rows) * band_row(shape) + band_slack(shape)) * (bit_width(shape.product.src) / 8);
}

int64_t band_tasks(const BandShape& shape, int64_t panel_columns, int64_t band_rows, int64_t task_panels) {
  return shape.images * divide_up(shape.down.out, band_rows) * shape.product.groups *
         divide_up(divide_up(shape.product.columns, panel_columns), task_panels);
}

std::string band_text(const std::string& name, const BandShape& shape, const BandSchedule& schedule,
                      const Epilogue& epilogue) {
  return Writer(name, shape, schedule, epilogue).write();
}

}  // namespace attune::cube
