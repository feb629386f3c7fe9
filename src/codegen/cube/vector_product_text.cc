// A product on vector registers. Accumulators are named variables: compilers keep arrays of vectors in memory.
#include "codegen/cube/pack_text.h"
#include "codegen/cube/product.h"
#include "codegen/cube/shuffle_text.h"
#include "codegen/cube/task_grid.h"
#include "codegen/cube/text.h"

#include <functional>

namespace attune::cube {
namespace {

constexpr int64_t kLineFloats = 16;
constexpr int64_t kLineBytes = 64;
constexpr int64_t kMostUnrolled = 8;

/// The sizes that a tile function is written for.
struct Tile {
  int rows = 0;
  int vectors = 0;
  int last_lanes = 0;  // of the last vector that belong to the result
};

class Writer {
 public:
  Writer(const std::string& name, const ProductShape& shape, const VectorSchedule& schedule, const Epilogue& epilogue)
      : name_(name), shape_(shape), schedule_(schedule), epilogue_(epilogue) {
    const int64_t last_columns = shape.columns - (grid().panels - 1) * schedule.panel_columns();
    const int lanes = schedule.isa.lanes;
    edge_vectors_ = static_cast<int>(divide_up(last_columns, lanes));
    edge_lanes_ = static_cast<int>(last_columns - (edge_vectors_ - 1) * lanes);
    edge_rows_ = static_cast<int>(shape.rows % schedule.tile_rows);
  }

  std::string write() {
    text_.paste(vector_vocabulary(schedule_.isa));
    text_.paste(epilogue_text(epilogue_, schedule_.isa, shape_.dst));
    if (pairs()) write_dot();
    if (packs()) write_packing(text_, shape_, {.lanes = schedule_.isa.lanes});
    write_arguments();
    if (shape_.shuffle) write_shuffle(text_, shape_, schedule_.isa.lanes);
    const Tile full{schedule_.tile_rows, schedule_.tile_vectors, schedule_.isa.lanes};
    const bool has_full_panel = grid().panels > 1 || !edge_panel();
    if (shape_.rows >= schedule_.tile_rows) {
      if (has_full_panel) write_tile(full);
      if (edge_panel()) write_tile({full.rows, edge_vectors_, edge_lanes_});
    }
    if (edge_rows_ > 0) {
      if (has_full_panel) write_tile({edge_rows_, full.vectors, full.last_lanes});
      if (edge_panel()) write_tile({edge_rows_, edge_vectors_, edge_lanes_});
    }
    write_step();
    write_entry();
    return text_.take();
  }

 private:
  TaskGrid grid() const {
    return task_grid(shape_, schedule_.panel_columns(), schedule_.task_rows, schedule_.task_panels);
  }
  bool edge_panel() const { return edge_vectors_ != schedule_.tile_vectors || edge_lanes_ != schedule_.isa.lanes; }
  bool pairs() const { return shape_.src == DType::bf16; }
  bool blocked() const { return schedule_.depth_block > 0; }
  bool open() const { return shape_.open.has_value(); }
  bool packs() const { return open() && schedule_.pack_weights; }
  bool past_cache() const { return schedule_.results == Results::past_cache; }
  bool reads_in_place() const { return open() && !schedule_.pack_weights; }
  std::string_view src() const { return element_name(shape_.src); }
  std::string_view dst() const { return element_name(shape_.dst); }
  /// Steps of the depth: elements, or pairs of bf16.
  int64_t steps() const { return pairs() ? divide_up(shape_.depth, 2) : shape_.depth; }
  /// Floats' worth of weights in one full panel.
  int64_t panel_size() const { return steps() * shape_.taps * schedule_.panel_columns(); }
  int64_t group_size() const {
    return ((grid().panels - 1) * schedule_.tile_vectors + edge_vectors_) * schedule_.isa.lanes * steps() * shape_.taps;
  }
  static std::string tile_name(const Tile& tile) {
    return fmt::format("tile_{}x{}_{}", tile.rows, tile.vectors, tile.last_lanes);
  }
  std::string tile_extras() const {
    return fmt::format("{}{}", blocked() ? ", long first_step, long steps" : "", fetches() ? ", const char* next" : "");
  }
  bool fetches() const { return schedule_.fetch_next; }
  /// Steps between two lines of the next panel that a tile asks for: the tiles of a task share out the whole panel.
  int64_t steps_between_lines() const {
    const int64_t tiles = divide_up(std::min(schedule_.task_rows, shape_.rows), schedule_.tile_rows);
    return std::max<int64_t>(tiles * kLineFloats / schedule_.panel_columns(), 1);
  }

  void write_dot() {
    const int lanes = schedule_.isa.lanes;
    text_.line("typedef __bf16 vpairs __attribute__((vector_size({})));", lanes * 4);
    text_.line("INLINE vf dot(vf sum, vi a, vf b) {{ return __builtin_ia32_dpbf16ps_{}(sum, (vpairs)a, (vpairs)b); }}",
               lanes * 32);
  }

  bool fetches_rows() const {
    return schedule_.fetch_rows && !fetches();  // one at a time
  }

  void write_arguments() {
    text_.open("struct Arguments");
    text_.line("const {}* src;  // first channel of the group", src());
    if (shape_.by_table()) {
      text_.line("const int* row_at;");
      text_.line("const {}* zeros;", src());
    }
    text_.line("{}* dst;", dst());
    text_.line("Operands with;");
    if (shape_.dst_by_table) text_.line("const int* dst_at;");
    if (open()) text_.line("long dst_row;      // of the result, where the product's first row is");
    if (open()) text_.line("long first_panel;  // of those that are packed");
    if (shape_.shuffle) {
      text_.line("const {}* beside;", dst());
      text_.line("{}* rest;", dst());
    }
    text_.close(";");
    text_.blank();
  }
  /// The position of element `column` of row `r` of a tile in the result.
  std::string result_at(const std::string& r) const {
    if (shape_.dst_by_table) return fmt::format("g.dst_at[row + {}] + column", r);
    return fmt::format("({}row + {}) * {} + column", open() ? "g.dst_row + " : "", r, shape_.dst_stride);
  }

  void write_tile(const Tile& tile) {
    text_.line("// {} rows from `row` on, {} columns from `column` on.", tile.rows,
               (tile.vectors - 1) * schedule_.isa.lanes + tile.last_lanes);
    if (blocked()) text_.line("template <bool first, bool last>");
    text_.open("static void {}(const Arguments& g, long row, long column, const float* panel{})", tile_name(tile),
               tile_extras());
    for (int r = 0; r < tile.rows; ++r) {
      for (int v = 0; v < tile.vectors; ++v) text_.line("vf c{}_{} = {{}};", r, v);
    }
    if (blocked()) write_partial_loads(tile);
    if (schedule_.results != Results::cached) write_results_ahead(tile);
    if (shape_.taps > 1) text_.open("for (long tap = 0; tap < {}; ++tap)", shape_.taps);
    write_rows(tile);
    write_depth_loop(tile);
    if (shape_.taps > 1) text_.close();
    write_results(tile);
    text_.close();
    text_.blank();
  }

  void write_rows(const Tile& tile) {
    const std::string at = fmt::format("g.row_at + (row / {0} * {1}{2}) * {0}", schedule_.tile_rows, shape_.taps,
                                       shape_.taps > 1 ? " + tap" : "");
    if (!shape_.by_table()) {
      text_.line("const {}* a = g.src + row * {}{};", src(), shape_.src_stride, blocked() ? " + first_step" : "");
      return;
    }
    text_.line("const int* at = {};", at);
    for (int r = 0; r < tile.rows; ++r)
      text_.line("const {0}* a{1} = at[{1}] < 0 ? g.zeros : g.src + at[{1}];", src(), r);
  }
  /// Where a row of a tile begins. Rows at equal distances have one address: for many of them there are no registers.
  std::string row_at(int r) const {
    return shape_.by_table() ? fmt::format("a{}", r) : fmt::format("(a + {})", r * shape_.src_stride);
  }

  void write_depth_loop(const Tile& tile) {
    const int64_t whole = pairs() ? shape_.depth / 2 : shape_.depth;
    if (whole > 0) {
      const std::string end = blocked() ? "steps" : std::to_string(whole);
      text_.line("long k = 0;");
      if (fetches()) write_fetching_loop(tile, end);
      if (fetches_rows()) write_row_fetching_loop(tile, end);
      if (schedule_.unroll > 1) text_.line("#pragma clang loop unroll_count({})", schedule_.unroll);
      text_.open("for (; k < {}; ++k)", end);
      write_products(tile, "k", "");
      text_.close();
    }
    // An odd depth: the last element alone, its partner zero.
    if (pairs() && shape_.depth % 2 != 0) {
      text_.open("");
      write_products(tile, std::to_string(shape_.depth - 1), "last");
      text_.close();
    }
  }

  void write_fetching_loop(const Tile& tile, const std::string& end) {
    const int64_t between = steps_between_lines();
    text_.open("for (; k + {} <= {}; k += {})", between, end, between);
    text_.line("__builtin_prefetch(next, 0, 2);");
    text_.line("next += {};", kLineFloats * 4);
    text_.line("#pragma clang loop unroll_count({})", std::min(between, kMostUnrolled));
    text_.open("for (long step = k; step < k + {}; ++step)", between);
    write_products(tile, "step", "");
    text_.close();
    text_.close();
  }

  void write_row_fetching_loop(const Tile& tile, const std::string& end) {
    text_.open("for (; k + {0} <= {1}; k += {0})", kLineFloats, end);
    for (int r = 0; r < tile.rows; ++r)
      text_.line("__builtin_prefetch({} + {}k + {});", row_at(r), pairs() ? "2 * " : "",
                 schedule_.tile_rows * shape_.src_stride);
    if (schedule_.unroll > 1) text_.line("#pragma clang loop unroll_count({})", schedule_.unroll);
    text_.open("for (long step = k; step < k + {}; ++step)", kLineFloats);
    write_products(tile, "step", "");
    text_.close();
    text_.close();
  }

  void write_products(const Tile& tile, const std::string& k, std::string_view how) {
    const int64_t width = static_cast<int64_t>(tile.vectors) * schedule_.isa.lanes;
    for (int v = 0; v < tile.vectors; ++v)
      if (reads_in_place())
        text_.line("const vf b{} = load<{}>(panel + {});", v, lanes_of(tile, v), v * schedule_.isa.lanes);
      else
        text_.line("const vf b{0} = ((const vf*)panel)[{0}];", v);
    const int64_t next = reads_in_place() ? shape_.open->row_stride : width;
    if (schedule_.prefetch > 0)
      for (int v = 0; v < tile.vectors; ++v)
        text_.line("__builtin_prefetch(panel + {});", schedule_.prefetch * next + v * schedule_.isa.lanes);
    text_.line("panel += {};", next);
    for (int r = 0; r < tile.rows; ++r) {
      const int64_t step = shape_.src_step;
      const std::string at = row_at(r);
      if (!pairs())
        text_.line("const vf x{} = {}[{}{}] - (vf){{}};", r, at, k, step == 1 ? "" : fmt::format(" * {}", step));
      else if (how.empty() && step == 1)
        text_.line("const vi x{} = (vi){{}} + ((const int_at*){})[{}];", r, at, k);
      else if (how.empty())
        text_.line("const vi x{0} = (vi){{}} + (int)({1}[{2} * {3}] | (unsigned){1}[{2} * {3} + {4}] << 16);", r, at, k,
                   2 * step, step);
      else
        text_.line("const vi x{} = (vi){{}} + (int){}[{} * {}];", r, at, k, step);
      for (int v = 0; v < tile.vectors; ++v)
        if (pairs())
          text_.line("c{0}_{1} = dot(c{0}_{1}, x{0}, b{1});", r, v);
        else
          text_.line("c{0}_{1} += x{0} * b{1};", r, v);
    }
  }

  int lanes_of(const Tile& tile, int v) const { return v + 1 == tile.vectors ? tile.last_lanes : schedule_.isa.lanes; }

  void write_partial_loads(const Tile& tile) {
    text_.open("if constexpr (!first)");
    for (int r = 0; r < tile.rows; ++r)
      for (int v = 0; v < tile.vectors; ++v)
        text_.line("c{}_{} = load<{}>(g.dst + {} + {});", r, v, lanes_of(tile, v), result_at(std::to_string(r)),
                   v * schedule_.isa.lanes);
    text_.close();
  }

  /// Asks for the lines where results go, and for those of what is added to them: each row of a tile lies elsewhere, so
  /// that no hardware prefetcher sees them coming.
  void write_results_ahead(const Tile& tile) {
    const int64_t columns = (tile.vectors - 1) * schedule_.isa.lanes + tile.last_lanes;
    const auto ask = [&](const std::string& where, DType dtype, int how) {
      const int64_t in_line = kLineBytes * 8 / bit_width(dtype);
      for (int64_t offset = 0; offset < columns; offset += in_line)
        text_.line("__builtin_prefetch({} + at + {}, {});", where, offset, how);
    };
    for (int r = 0; r < tile.rows; ++r) {
      text_.open("");
      text_.line("[[maybe_unused]] const long at = {};", result_at(std::to_string(r)));
      if (!past_cache()) ask("g.dst", shape_.dst, 1);
      for (const Operand& operand : epilogue_.operands)
        if (operand.reach == Reach::full) ask(fmt::format("g.with.in{}", operand.input), operand.dtype, 0);
      text_.close();
    }
  }

  /// Functions of many steps take as many registers as the sums do, and a sum that is moved to memory while the depth
  /// passes costs half of the speed (197x768 to 3072 columns with gelu in bf16): all are put there once, behind it.
  void write_results(const Tile& tile) {
    if (!has_functions(epilogue_.steps)) {
      for (int r = 0; r < tile.rows; ++r) {
        text_.open("");
        write_row(tile, std::to_string(r), [&](int v) { return fmt::format("c{}_{}", r, v); });
        text_.close();
      }
      return;
    }
    text_.open("");
    text_.line("vf sums[{}];", tile.rows * tile.vectors);
    for (int r = 0; r < tile.rows; ++r)
      for (int v = 0; v < tile.vectors; ++v) text_.line("sums[{}] = c{}_{};", r * tile.vectors + v, r, v);
    text_.line("#pragma clang loop unroll(disable)");
    text_.open("for (long r = 0; r < {}; ++r)", tile.rows);
    write_row(tile, "r", [&](int v) { return fmt::format("sums[r * {} + {}]", tile.vectors, v); });
    text_.close();
    text_.close();
  }

  /// Stores row `r` of a tile, whose sums have these names.
  void write_row(const Tile& tile, const std::string& r, const std::function<std::string(int)>& sum) {
    text_.line("const long at = {};", result_at(r));
    for (int v = 0; v < tile.vectors; ++v) {
      const int n = lanes_of(tile, v), offset = v * schedule_.isa.lanes;
      const std::string done = fmt::format("finish<{0}>({1}, g.with, at + {2}, column + {2})", n, sum(v), offset);
      if (shape_.shuffle)
        text_.line("place_both<{0}>(g, row + {1}, at + {2}, column + {2}, {3});", n, r, offset, done);
      else if (blocked())
        text_.line("store<{0}>(g.dst + at + {1}, last ? {2} : {3});", n, offset, done, sum(v));
      else if (past_cache() && n == schedule_.isa.lanes)
        text_.line("store_past_cache(g.dst + at + {}, {});", offset, done);
      else
        text_.line("store<{0}>(g.dst + at + {1}, {2});", n, offset, done);
    }
  }

  /// `step`: one tile, whichever of the sizes it has.
  void write_step() {
    if (blocked()) text_.line("template <bool first, bool last>");
    text_.open("INLINE void tile(const Arguments& g, long row, long panel, long group, const float* weights{})",
               tile_extras());
    text_.line("const long column = {}panel * {};", open() ? "" : fmt::format("group * {} + ", shape_.columns),
               schedule_.panel_columns());
    const auto call = [&](const Tile& tile) {
      const int64_t width = static_cast<int64_t>(tile.vectors) * schedule_.isa.lanes;
      text_.line("{}{}(g, row, column, weights + {} * {}{}{});", tile_name(tile), blocked() ? "<first, last>" : "",
                 packs() ? "(panel - g.first_panel)" : "panel",
                 reads_in_place() ? schedule_.panel_columns() : panel_size(),
                 blocked() ? fmt::format(" + first_step * {}", width) : "",
                 fmt::format("{}{}", blocked() ? ", first_step, steps" : "", fetches() ? ", next" : ""));
    };
    const Tile full{schedule_.tile_rows, schedule_.tile_vectors, schedule_.isa.lanes};
    const auto by_panel = [&](int rows) {
      if (edge_panel() && grid().panels > 1) {
        text_.open("if (panel < {})", grid().panels - 1);
        call({rows, full.vectors, full.last_lanes});
        text_.close(" else");
        text_.open("");
        call({rows, edge_vectors_, edge_lanes_});
        text_.close();
      } else if (edge_panel()) {
        call({rows, edge_vectors_, edge_lanes_});
      } else {
        call({rows, full.vectors, full.last_lanes});
      }
    };
    if (edge_rows_ > 0 && shape_.rows >= schedule_.tile_rows) {
      text_.open("if (row < {})", shape_.rows - edge_rows_);
      by_panel(full.rows);
      text_.close(" else");
      text_.open("");
      by_panel(edge_rows_);
      text_.close();
    } else {
      by_panel(edge_rows_ > 0 ? edge_rows_ : full.rows);
    }
    text_.close();
    text_.blank();
  }

  void write_entry() {
    text_.open("extern \"C\" void {}({})", name_, kEntryParameters);
    text_.line("(void)workspace;");
    if (shape_.by_table())
      text_.line("static const {} zeros[{}] __attribute__((aligned(64))) = {{}};", src(), shape_.depth);
    if (packs()) {
      text_.line("float packed[{}] __attribute__((aligned(64)));", schedule_.task_panels * panel_size());
      text_.line("long held = -1;  // the panels that were packed last");
    }
    open_task_loop(text_, shape_, grid(), schedule_.task_rows, schedule_.task_panels, schedule_.split);
    text_.line("const Arguments g = {{(const {}*)inputs[0] + {}, {}({}*)outputs[0], operands_of(inputs){}{}{}}};",
               src(), open() ? batch_offset(shape_, &BatchAxis::src_stride) : fmt::format("group * {}", shape_.depth),
               shape_.by_table() ? "(const int*)prepared[1], zeros, " : "", dst(),
               shape_.dst_by_table ? fmt::format(", (const int*)prepared[{}]", shape_.by_table() ? 2 : 1) : "",
               shape_.shuffle ? shuffle_arguments(shape_) : "",
               open() ? fmt::format(", group * {}, first_panel", shape_.rows) : "");
    if (open())
      write_open_weights();
    else
      text_.line("const float* weights = (const float*)prepared[0] + group * {};", group_size());
    if (blocked()) {
      text_.open("for (long step = 0; step < {0}; step += {1})", steps(), schedule_.depth_block);
      text_.line("const long steps = step + {0} < {1} ? {0} : {1} - step;", schedule_.depth_block, steps());
    }
    const std::string row_loop =
        fmt::format("for (long row = first_row; row < end_row; row += {})", schedule_.tile_rows);
    const std::string panel_loop = "for (long panel = first_panel; panel < end_panel; ++panel)";
    const bool rows_inside = schedule_.inner == Axis::rows;
    text_.open("{}", rows_inside ? panel_loop : row_loop);
    if (fetches())
      text_.line("const char* next = (const char*)(weights + (panel + 1) * {}{});", panel_size(),
                 blocked() ? fmt::format(" + step * {}", schedule_.panel_columns()) : "");
    text_.open("{}", rows_inside ? row_loop : panel_loop);
    const std::string_view fetching = fetches() ? ", next" : "";
    if (blocked()) {
      text_.line("const bool first = step == 0, last = step + {} >= {};", schedule_.depth_block, steps());
      text_.line("if (first && last) tile<true, true>(g, row, panel, group, weights, step, steps{});", fetching);
      text_.line("else if (first) tile<true, false>(g, row, panel, group, weights, step, steps{});", fetching);
      text_.line("else if (last) tile<false, true>(g, row, panel, group, weights, step, steps{});", fetching);
      text_.line("else tile<false, false>(g, row, panel, group, weights, step, steps{});", fetching);
    } else {
      text_.line("tile(g, row, panel, group, weights{});", fetching);
    }
    if (fetches()) {
      const int64_t whole = pairs() ? shape_.depth / 2 : shape_.depth;
      text_.line("next += {} / {} * {};", blocked() ? "steps" : std::to_string(whole), steps_between_lines(),
                 shape_.taps * kLineFloats * 4);
    }
    text_.close();
    text_.close();
    if (blocked()) text_.close();
    text_.close();
    if (past_cache()) text_.line("__builtin_ia32_sfence();");
    text_.close();
  }

  /// The weights of a task: packed, unless the task before had the same, or where they lie.
  void write_open_weights() {
    const std::string all =
        fmt::format("(const {}*)inputs[1] + {}", src(), batch_offset(shape_, &BatchAxis::weights_stride));
    if (reads_in_place()) {
      text_.line("const float* weights = {};", all);
      return;
    }
    const int lanes = schedule_.isa.lanes;
    text_.open("if (held != group * {} + panel_task)", grid().panel_tasks);
    text_.line("held = group * {} + panel_task;", grid().panel_tasks);
    text_.open("for (long panel = first_panel; panel < end_panel; ++panel)");
    text_.line("float* to = packed + (panel - first_panel) * {};", panel_size());
    text_.line("const {}* from = {} + panel * {};", src(), all, schedule_.panel_columns() * shape_.open->column_stride);
    const auto pack = [&](int vectors, int last_lanes) {
      const int64_t width = static_cast<int64_t>(vectors) * lanes;
      for (int v = 0; v < vectors; ++v)
        text_.line("pack_columns<{}>(from + {}, to + {}, {}, {});", v + 1 == vectors ? last_lanes : lanes,
                   v * lanes * shape_.open->column_stride, v * lanes, width, width * lanes);
    };
    if (edge_panel()) {
      text_.open("if (panel == {})", grid().panels - 1);
      pack(edge_vectors_, edge_lanes_);
      text_.line("continue;");
      text_.close();
    }
    if (grid().panels > 1 || !edge_panel()) pack(schedule_.tile_vectors, lanes);
    text_.close();
    text_.close();
    text_.line("const float* weights = packed;");
  }

  std::string name_;
  const ProductShape& shape_;
  const VectorSchedule& schedule_;
  const Epilogue& epilogue_;
  Text text_;
  int edge_vectors_ = 0, edge_lanes_ = 0, edge_rows_ = 0;
};

}  // namespace

std::string vector_product_text(const std::string& name, const ProductShape& shape, const VectorSchedule& schedule,
                                const Epilogue& epilogue) {
  return Writer(name, shape, schedule, epilogue).write();
}

}  // namespace attune::cube
