// A product on AMX tiles. The result's tiles stay in tile registers while the whole depth passes, go through a small
// buffer, and leave it as vectors through the epilogue.
#include "codegen/cube/pack_text.h"
#include "codegen/cube/product.h"
#include "codegen/cube/task_grid.h"
#include "codegen/cube/text.h"

#include <algorithm>
#include <set>
#include <vector>

namespace attune::cube {
namespace {

constexpr int64_t kTileBytes = 1024;

class Writer {
 public:
  Writer(const std::string& name, const ProductShape& shape, const TileSchedule& schedule, const Epilogue& epilogue)
      : name_(name), shape_(shape), schedule_(schedule), epilogue_(epilogue) {
    // Rows that are left of whole blocks in a task, and in the last one.
    const int64_t last = shape.rows % schedule.task_rows;
    if (shape.rows >= schedule.task_rows) rests_.insert(schedule.task_rows % schedule.block_rows());
    rests_.insert(last % schedule.block_rows());
    rests_.erase(0);
    const int64_t last_columns = shape.columns - (grid().panels - 1) * schedule.panel_columns();
    edge_across_ = static_cast<int>(divide_up(last_columns, 16));
    edge_lanes_ = static_cast<int>(last_columns - (edge_across_ - 1) * 16);
  }

  std::string write() {
    text_.paste(vector_vocabulary(kTileVectors));
    text_.paste(epilogue_text(epilogue_, kTileVectors, shape_.dst));
    write_arguments();
    if (schedule_.pack_src) write_row_packing();
    if (open()) write_packing(text_, shape_, {.whole_blocks = true});
    if (has_blocks()) write_height(schedule_.block_rows(), "whole");
    for (const int64_t rest : rests_) write_height(rest, rest_name(rest));
    write_entry();
    return text_.take();
  }

 private:
  TaskGrid grid() const {
    return task_grid(shape_, schedule_.panel_columns(), schedule_.task_rows, schedule_.task_panels);
  }
  bool has_blocks() const { return std::min(shape_.rows, schedule_.task_rows) >= schedule_.block_rows(); }
  static std::string rest_name(int64_t rows) { return fmt::format("rest{}", rows); }
  bool open() const { return shape_.open.has_value(); }
  bool edge_panel() const { return edge_across_ != schedule_.tiles_across || edge_lanes_ != 16; }
  int64_t tiles_of_depth() const { return divide_up(shape_.depth, kTileDepth); }  // of one tap
  int64_t steps() const { return tiles_of_depth() * shape_.taps; }
  /// Elements of the weights of one full panel, of one group, and of the packed rows of one tile.
  int64_t panel_size() const { return steps() * schedule_.tiles_across * kTileBytes / 2; }
  int64_t group_size() const {
    return ((grid().panels - 1) * schedule_.tiles_across + edge_across_) * steps() * kTileBytes / 2;
  }
  /// Lines of the next panel that a block asks for at each step: the blocks of a task share out the whole panel.
  int64_t lines_of_step() const {
    const int64_t blocks = divide_up(std::min(schedule_.task_rows, shape_.rows), schedule_.block_rows());
    return divide_up(schedule_.tiles_across * int64_t{16}, blocks);
  }
  int64_t packed_tile() const { return steps() * kTileBytes / 2; }
  /// Heights of the tiles that cover `rows` rows.
  std::vector<int64_t> heights(int64_t rows) const {
    std::vector<int64_t> out;
    for (; rows > 0; rows -= schedule_.tile_rows) out.push_back(std::min<int64_t>(rows, schedule_.tile_rows));
    return out;
  }

  void write_arguments() {
    text_.open("struct Arguments");
    text_.line("const bf16* src;  // first channel of the group");
    if (shape_.by_table()) text_.line("const int* row_at;");
    text_.line("{}* dst;", element_name(shape_.dst));
    text_.line("Operands with;");
    text_.line("bf16* packed;");
    if (open()) text_.line("long dst_row;  // of the result, where the product's first row is");
    text_.close(";");
    text_.line(
        "struct TileConfig {{ unsigned char palette, start, reserved[14]; unsigned short row_bytes[16]; unsigned char "
        "rows[16]; }};");
    text_.blank();
  }

  /// Rows into tiles: for each tile of rows, each tap, each 32 elements of depth, 16 rows of 64 bytes.
  void write_row_packing() {
    const int64_t tail = shape_.depth % kTileDepth;
    text_.line("typedef short v32s __attribute__((vector_size(64)));");
    text_.line("typedef short v32s_at __attribute__((vector_size(64), aligned(2), may_alias));");
    text_.open("static void pack(const Arguments& g, long first_row, long end_row)");
    text_.open("for (long row = first_row; row < end_row; ++row)");
    text_.line("bf16* to = g.packed + (row - first_row) / {0} * {1} + (row - first_row) % {0} * 32;",
               schedule_.tile_rows, packed_tile());
    if (shape_.by_table()) {
      text_.line("const int* at = g.row_at + row / {0} * {1} + row % {0};", schedule_.tile_rows,
                 schedule_.tile_rows * shape_.taps);
      text_.open("for (long tap = 0; tap < {0}; ++tap, at += {1}, to += {2})", shape_.taps, schedule_.tile_rows,
                 tiles_of_depth() * kTileBytes / 2);
      text_.open("if (*at < 0)");
      text_.line("for (long k = 0; k < {}; ++k) *(v32s*)(to + k * 512) = (v32s){{}};", tiles_of_depth());
      text_.line("continue;");
      text_.close();
      text_.line("const bf16* from = g.src + *at;");
    } else {
      text_.line("const bf16* from = g.src + row * {};", shape_.src_stride);
    }
    if (shape_.src_step != 1) {
      text_.open("for (long k = 0; k < {}; ++k)", tiles_of_depth() * kTileDepth);
      text_.line("to[k / 32 * 512 + k % 32] = k < {} ? from[k * {}] : 0;", shape_.depth, shape_.src_step);
      text_.close();
    } else if (shape_.depth >= kTileDepth) {
      text_.line("for (long k = 0; k < {}; ++k) *(v32s*)(to + k * 512) = *(const v32s_at*)(from + k * 32);",
                 shape_.depth / kTileDepth);
    }
    if (tail > 0 && shape_.src_step == 1)
      text_.line(
          "*(v32s*)(to + {} * 512) = (v32s)__builtin_ia32_loaddquhi512_mask((const v32s*)(from + {}), (v32s){{}}, "
          "{:#x}u);",
          shape_.depth / kTileDepth, shape_.depth - tail, (uint64_t{1} << tail) - 1);
    if (shape_.by_table()) text_.close();
    text_.close();
    text_.close();
    text_.blank();
  }

  /// The functions for blocks of one height, and the tile configuration that they run under.
  void write_height(int64_t rows, std::string_view which) {
    const auto tall = heights(rows);
    const int down = static_cast<int>(tall.size());
    write_config(tall, which);
    if (grid().panels > 1 || !edge_panel()) write_block(tall, down, schedule_.tiles_across, 16, which);
    if (edge_panel()) write_block(tall, down, edge_across_, edge_lanes_, which);
  }

  // Tile registers: the result's come first, then those of the rows, then those of the weights.
  int result_tile(int i, int j, int across) const { return i * across + j; }
  int row_tile(int i) const { return schedule_.tiles_down * schedule_.tiles_across + i; }
  int weights_tile(int j) const { return row_tile(schedule_.tiles_down) + (two_weight_tiles() ? j : 0); }
  /// Whether each column of tiles has a register for its weights; else one serves them in turn.
  bool two_weight_tiles() const {
    const int down = schedule_.tiles_down, across = schedule_.tiles_across;
    return down * across + down + across <= 8;
  }

  void write_config(const std::vector<int64_t>& tall, std::string_view which) {
    // An edge panel numbers its result tiles anew, so every result tile has to have its row's height under both.
    std::string bytes, rows;
    for (int t = 0; t < 8; ++t) {
      int64_t height = 16;
      if (t < row_tile(0))
        height = tall.at(std::min<size_t>(static_cast<size_t>(t / schedule_.tiles_across), tall.size() - 1));
      if (t >= row_tile(0) && t < weights_tile(0))
        height = tall.at(std::min<size_t>(static_cast<size_t>(t - row_tile(0)), tall.size() - 1));
      bytes += t ? ", 64" : "64";
      rows += fmt::format("{}{}", t ? ", " : "", height);
    }
    text_.line("static const TileConfig config_{} __attribute__((aligned(64))) = {{1, 0, {{}}, {{{}}}, {{{}}}}};",
               which, bytes, rows);
  }

  void write_block(const std::vector<int64_t>& tall, int down, int across, int last_lanes, std::string_view which) {
    const int full_across = schedule_.tiles_across;
    text_.open(
        "static void block_{}_{}_{}(const Arguments& g, long row, long packed_row, long column, const bf16* panel{})",
        which, across, last_lanes, schedule_.fetch_next ? ", const char* next" : "");
    text_.line("float sums[{}] __attribute__((aligned(64)));", down * 16 * across * 16);
    for (int i = 0; i < down; ++i)
      for (int j = 0; j < across; ++j) text_.line("__builtin_ia32_tilezero({});", result_tile(i, j, full_across));
    for (int i = 0; i < down; ++i) {
      if (schedule_.pack_src)
        text_.line("const bf16* a{} = g.packed + (packed_row / {} + {}) * {};", i, schedule_.tile_rows, i,
                   packed_tile());
      else
        text_.line("const bf16* a{} = g.src + (row + {}) * {};", i, i * schedule_.tile_rows, shape_.src_stride);
    }
    text_.open("for (long k = 0; k < {}; ++k)", steps());
    if (schedule_.fetch_next) {
      text_.line("for (long line = 0; line < {}; ++line) __builtin_prefetch(next + line * 64, 0, 2);", lines_of_step());
      text_.line("next += {};", lines_of_step() * 64);
    }
    const std::string row_stride = schedule_.pack_src ? "64" : std::to_string(shape_.src_stride * 2);
    for (int i = 0; i < down; ++i)
      text_.line("__builtin_ia32_tileloadd64({}, a{} + k * {}, {});", row_tile(i), i, schedule_.pack_src ? 512 : 32,
                 row_stride);
    for (int j = 0; j < across; ++j) {
      text_.line("__builtin_ia32_tileloadd64({}, panel + {}, 64);", weights_tile(j), j * 512);
      for (int i = 0; i < down; ++i)
        text_.line("__builtin_ia32_tdpbf16ps({}, {}, {});", result_tile(i, j, full_across), row_tile(i),
                   weights_tile(j));
    }
    text_.line("panel += {};", across * 512);
    text_.close();
    for (int i = 0; i < down; ++i)
      for (int j = 0; j < across; ++j)
        text_.line("__builtin_ia32_tilestored64({}, sums + {}, {});", result_tile(i, j, full_across),
                   i * 16 * across * 16 + j * 16, across * 64);
    for (int i = 0; i < down; ++i) {
      text_.open("for (long r = 0; r < {}; ++r)", tall[static_cast<size_t>(i)]);
      text_.line("const float* sum = sums + {} + r * {};", i * 16 * across * 16, across * 16);
      text_.line("const long at = ({}row + {} + r) * {} + column;", open() ? "g.dst_row + " : "",
                 i * schedule_.tile_rows, shape_.dst_stride);
      for (int j = 0; j < across; ++j) {
        const int n = j + 1 == across ? last_lanes : 16;
        text_.line(
            "store<{0}>(g.dst + at + {1}, finish<{0}>(*(const vf*)(sum + {1}), g.with, at + {1}, column + {1}));", n,
            j * 16);
      }
      text_.close();
    }
    text_.close();
    text_.blank();
  }

  /// A block of either panel width.
  void write_call(std::string_view which) {
    const auto call = [&](int across, int lanes) {
      text_.line("block_{}_{}_{}(g, row, row - first_row, {}panel * {}, weights + {} * {}{});", which, across, lanes,
                 open() ? "" : fmt::format("group * {} + ", shape_.columns), schedule_.panel_columns(),
                 open() ? "(panel - first_panel)" : "panel", panel_size(),
                 schedule_.fetch_next
                     ? fmt::format(", (const char*)(weights + (panel + 1) * {}) + (row - first_row) / {} * {}",
                                   panel_size(), schedule_.block_rows(), steps() * lines_of_step() * 64)
                     : "");
    };
    if (edge_panel() && grid().panels > 1) {
      text_.open("if (panel < {})", grid().panels - 1);
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
    text_.open("extern \"C\" void {}({})", name_, kEntryParameters);
    text_.line("(void)workspace;");
    if (schedule_.pack_src)
      text_.line("bf16 packed[{}] __attribute__((aligned(64)));",
                 divide_up(std::min(schedule_.task_rows, shape_.rows), schedule_.tile_rows) * packed_tile());
    else
      text_.line("bf16* packed = 0;");
    if (open()) {
      text_.line("bf16 weights[{}] __attribute__((aligned(64)));", schedule_.task_panels * panel_size());
      text_.line("long held = -1;  // the panels that were packed last");
    }
    open_task_loop(text_, shape_, grid(), schedule_.task_rows, schedule_.task_panels, schedule_.split);
    text_.line("const Arguments g = {{(const bf16*)inputs[0] + {}, {}({}*)outputs[0], operands_of(inputs), packed{}}};",
               open() ? batch_offset(shape_, &BatchAxis::src_stride) : fmt::format("group * {}", shape_.depth),
               shape_.by_table() ? "(const int*)prepared[1], " : "", element_name(shape_.dst),
               open() ? fmt::format(", group * {}", shape_.rows) : "");
    if (open())
      write_open_weights();
    else
      text_.line("const bf16* weights = (const bf16*)prepared[0] + group * {};", group_size());
    if (schedule_.pack_src) text_.line("pack(g, first_row, end_row);");
    text_.line("const long whole_end = end_row - (end_row - first_row) % {};", schedule_.block_rows());
    if (has_blocks()) {
      const std::string row_loop =
          fmt::format("for (long row = first_row; row < whole_end; row += {})", schedule_.block_rows());
      const std::string panel_loop = "for (long panel = first_panel; panel < end_panel; ++panel)";
      const bool rows_inside = schedule_.inner == Axis::rows;
      text_.line("__builtin_ia32_tile_loadconfig(&config_whole);");
      text_.open("{}", rows_inside ? panel_loop : row_loop);
      text_.open("{}", rows_inside ? row_loop : panel_loop);
      write_call("whole");
      text_.close();
      text_.close();
    }
    for (const int64_t rest : rests_) {
      text_.open("if (end_row - whole_end == {})", rest);
      text_.line("__builtin_ia32_tile_loadconfig(&config_{});", rest_name(rest));
      text_.line("const long row = whole_end;");
      text_.open("for (long panel = first_panel; panel < end_panel; ++panel)");
      write_call(rest_name(rest));
      text_.close();
      text_.close();
    }
    text_.close();
    text_.line("__builtin_ia32_tilerelease();");
    text_.close();
  }

  /// Packs the weights of a task, unless the task before had the same.
  void write_open_weights() {
    text_.open("if (held != group * {} + panel_task)", grid().panel_tasks);
    text_.line("held = group * {} + panel_task;", grid().panel_tasks);
    text_.open("for (long panel = first_panel; panel < end_panel; ++panel)");
    text_.line("float* to = (float*)(weights + (panel - first_panel) * {});", panel_size());
    text_.line("const bf16* from = (const bf16*)inputs[1] + {} + panel * {};",
               batch_offset(shape_, &BatchAxis::weights_stride),
               schedule_.panel_columns() * shape_.open->column_stride);
    const auto pack = [&](int across, int last_lanes) {
      for (int j = 0; j < across; ++j)
        text_.line("pack_columns<{}>(from + {}, to + {}, 16, {});", j + 1 == across ? last_lanes : 16,
                   j * 16 * shape_.open->column_stride, j * 256, across * 256);
    };
    if (edge_panel()) {
      text_.open("if (panel == {})", grid().panels - 1);
      pack(edge_across_, edge_lanes_);
      text_.line("continue;");
      text_.close();
    }
    if (grid().panels > 1 || !edge_panel()) pack(schedule_.tiles_across, 16);
    text_.close();
    text_.close();
  }

  std::string name_;
  const ProductShape& shape_;
  const TileSchedule& schedule_;
  const Epilogue& epilogue_;
  Text text_;
  std::set<int64_t> rests_;
  int edge_across_ = 0, edge_lanes_ = 0;
};

}  // namespace

std::string tile_product_text(const std::string& name, const ProductShape& shape, const TileSchedule& schedule,
                              const Epilogue& epilogue) {
  return Writer(name, shape, schedule, epilogue).write();
}

}  // namespace attune::cube
