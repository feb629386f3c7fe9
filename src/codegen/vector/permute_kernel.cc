#include "codegen/vector/permute_kernel.h"

#include "base/error.h"
#include "codegen/text.h"

#include <fmt/core.h>

#include <algorithm>

namespace attune::codegen {
namespace {

constexpr int64_t kLineBytes = 64;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

bool copies_rows(const PermuteKernel& kernel) { return kernel.nest.loops.back().strides[0] == 1; }

std::string element_type(int bytes) {
  switch (bytes) {
    case 1: return "unsigned char";
    case 2: return "unsigned short";
    case 4: return "unsigned";
    default: return "unsigned long";
  }
}

/// The two loops that are turned around, and those around them. `across` is contiguous in the input and strided in the
/// output, `along` the other way round.
struct Turn {
  LoopNest outer;
  Loop across, along;
};

Turn find_turn(const PermuteKernel& kernel) {
  Turn turn{kernel.nest, {}, kernel.nest.loops.back()};
  turn.outer.loops.pop_back();
  auto& loops = turn.outer.loops;
  // The smallest stride is 1 unless the input is a part of something.
  const auto found = std::ranges::min_element(loops, {}, [](const Loop& loop) { return loop.strides[0]; });
  if (found == loops.end()) throw InternalError("there is nothing to turn in rows that are not contiguous");
  turn.across = *found;
  loops.erase(found);
  return turn;
}

/// How strips fall into tasks. Wide and short tasks use all of the pages that they touch: a strip alone reads a line of
/// each row of the input, and where rows are long each has a page of its own. Such tasks have strips of the same rows.
struct StripSplit {
  int64_t strips = 1, length = 0, parts = 1;  // of a task; parts of a strip's length
  int64_t together = 1, groups = 1;           // strips that tasks do not reach beyond, and tasks of these
  int64_t all = 1;                            // strips

  int64_t tasks() const { return all / together * groups * parts; }
  /// The first strip of a task whose number is the value of `task`, as text.
  std::string first(const std::string& task) const {
    return fmt::format("{0} / {1} * {2} + {0} / {3} % {4} * {5}", task, parts * groups, together, parts, groups,
                       strips);
  }
  /// The end of those of the task that begins with `first`.
  std::string last(const std::string& first) const {
    return fmt::format("{0} + {1} < ({0} / {2} + 1) * {2} ? {0} + {1} : ({0} / {2} + 1) * {2}", first, strips,
                       together);
  }
};
StripSplit split_strips(const Turn& turn, const PermuteConfig& config) {
  StripSplit split;
  const int64_t per_outer = ceil_div(turn.across.extent, config.tile);
  split.all = outer_iterations(turn.outer, 0) * per_outer;
  if (config.strips == 0 || config.tile == 1) {
    split.strips = std::max<int64_t>(1, config.task_elements / (turn.along.extent * config.tile));
    split.length = turn.along.extent;
    split.together = split.all;
  } else {
    split.together = per_outer;
    split.strips = std::min(config.strips, per_outer);
    split.length = ceil_div(config.task_elements, split.strips * config.tile * config.tile) * config.tile;
    split.length = std::min(split.length, turn.along.extent);
    split.parts = std::max<int64_t>(1, turn.along.extent / split.length);  // the last one has the rest
  }
  split.groups = ceil_div(split.together, split.strips);
  return split;
}

/// The lines that the strips of a task read of one row of the input; 0 where they are no whole lines.
int64_t lines_of_row(const PermuteKernel& kernel, int tile, int64_t strips) {
  const int64_t bytes = strips * tile * kernel.element_bytes;
  return bytes % kLineBytes == 0 ? bytes / kLineBytes : 0;
}

/// Rows that stay together: `task_elements` of them in a task, or a part of one.
struct CopySplit {
  int64_t rows_per_task = 1, parts_per_row = 1, part = 0;
};
CopySplit split_copies(const PermuteKernel& kernel, const PermuteConfig& config) {
  const int64_t row = kernel.nest.loops.back().extent;
  if (row <= config.task_elements) return {std::max<int64_t>(1, config.task_elements / row), 1, row};
  return {1, ceil_div(row, config.task_elements), config.task_elements};
}

std::string entry_head(const PermuteKernel& kernel, const std::string& name) {
  const std::string type = element_type(kernel.element_bytes);
  return fmt::format(
      "extern \"C\" __attribute__((visibility(\"default\"))) void {}({}) {{\n"
      "  const {}* in = (const {}*)inputs[{}];\n  {}* out = ({}*)outputs[0];\n",
      name, kEntryParameters, type, type, kernel.input_position, type, type);
}

std::vector<RowPointer> pointers(const PermuteKernel& kernel) {
  const std::string type = element_type(kernel.element_bytes);
  return {{"const " + type, "in", "x"}, {type, "out", "y"}};
}

/// "__builtin_memcpy(y, x, 3136);", or lines past the cache.
std::string copy_bytes(const PermuteConfig& config, const std::string& at, const std::string& bytes) {
  if (config.stores == Stores::cached) return fmt::format("__builtin_memcpy(y{0}, x{0}, {1});\n", at, bytes);
  return fmt::format(
      "for (long i = 0; i < {1}; i += {2}) __builtin_nontemporal_store(*(const line_anywhere*)((const char*)(x{0}) + "
      "i), (line*)((char*)(y{0}) + i));\n",
      at, bytes, kLineBytes);
}

std::string copy_text(const PermuteKernel& kernel, const PermuteConfig& config, const std::string& name) {
  const CopySplit split = split_copies(kernel, config);
  const int64_t rows = outer_iterations(kernel.nest, 1), row = kernel.nest.loops.back().extent;
  const bool past_cache = config.stores == Stores::past_cache;
  const std::string last = past_cache ? "  __builtin_ia32_sfence();\n}\n" : "}\n";
  std::string out;
  if (past_cache)
    out += fmt::format(
        "typedef char line __attribute__((ext_vector_type({0})));\n"
        "typedef char line_anywhere __attribute__((ext_vector_type({0}), aligned(1), may_alias));\n\n",
        kLineBytes);
  out += entry_head(kernel, name);
  if (split.parts_per_row == 1) {
    out += fmt::format("  const long first = begin * {0}, last = end * {0} < {1} ? end * {0} : {1};\n",
                       split.rows_per_task, rows);
    out += "  for (long row = first; row < last; ++row) {\n" + row_pointers(kernel.nest, 1, pointers(kernel), "    ");
    return out + "    " + copy_bytes(config, "", std::to_string(row * kernel.element_bytes)) + "  }\n" + last;
  }
  out += "  for (long task = begin; task < end; ++task) {\n";
  out += fmt::format("    const long row = task / {0}, at = task % {0} * {1}, left = {2} - at;\n", split.parts_per_row,
                     split.part, row);
  out += row_pointers(kernel.nest, 1, pointers(kernel), "    ");
  const std::string bytes = fmt::format("(left < {0} ? left : {0}) * {1}", split.part, kernel.element_bytes);
  return out + "    " + copy_bytes(config, " + at", bytes) + "  }\n" + last;
}

/// A network of log2(tile) steps: step s swaps, between rows i and i + s, the blocks of s lanes off the diagonal.
std::string tile_function(const PermuteKernel& kernel, const PermuteConfig& config, const Turn& turn) {
  const int n = config.tile;
  const std::string type = element_type(kernel.element_bytes);
  std::string out = fmt::format(
      "typedef {0} vt __attribute__((ext_vector_type({1})));\n"
      "typedef {0} vt_anywhere __attribute__((ext_vector_type({1}), aligned({2}), may_alias));\n\n"
      "/// Turns a square of {1} by {1}; rows of the output before `skip` are there already.\n"
      "static inline void turn(const {0}* x, {0}* y, long skip{3}) {{\n",
      type, n, kernel.element_bytes, config.ahead ? fmt::format(", const {}* ahead", type) : "");
  for (int i = 0; i < n; ++i)
    out += fmt::format("  const vt a{0} = *(const vt_anywhere*)(x + {1});\n", i, i * turn.along.strides[0]);
  const int64_t lines = lines_of_row(kernel, n, split_strips(turn, config).strips);
  for (int i = 0; config.ahead && i < n; ++i)
    out += fmt::format("  __builtin_prefetch(ahead + {}, 0, 2);\n",
                       i / lines * turn.along.strides[0] + i % lines * kLineBytes / kernel.element_bytes);
  char from = 'a';
  for (int step = 1; step < n; step *= 2, ++from)
    for (int i = 0; i < n; ++i) {
      const int low = i & ~step, high = i | step;
      std::string lanes;
      for (int k = 0; k < n; ++k) {
        const bool own = ((k & step) != 0) == (i == high);
        const int lane = own ? k : (k ^ step);
        lanes += fmt::format(", {}", (k & step) != 0 ? lane + n : lane);
      }
      out += fmt::format("  const vt {}{} = __builtin_shufflevector({}{}, {}{}{});\n", static_cast<char>(from + 1), i,
                         from, low, from, high, lanes);
    }
  for (int i = 0; i < n; ++i) {
    const std::string target = fmt::format("y + {}", i * turn.across.strides[1]);
    if (config.stores == Stores::past_cache)
      out += fmt::format("  if (skip <= {0}) __builtin_nontemporal_store({1}{0}, (vt*)({2}));\n", i, from, target);
    else
      out += fmt::format("  if (skip <= {0}) *(vt_anywhere*)({2}) = {1}{0};\n", i, from, target);
  }
  return out + "}\n\n";
}

/// Where the rows begin that the block after this one reads, in this task or the next; `asked` counts the groups of
/// lines that were asked for.
std::string next_block(const PermuteKernel& kernel, const PermuteConfig& config, const Turn& turn,
                       const StripSplit& split) {
  const std::string type = element_type(kernel.element_bytes);
  const int64_t per_outer = ceil_div(turn.across.extent, config.tile);
  std::string out = fmt::format("      const {}* next;\n      long asked = 0;\n      {{\n", type);
  out += "        const long later = to < stop || task + 1 == end ? task : task + 1;\n";
  out += fmt::format("        const long i = later == task ? to : later % {} * {};\n", split.parts, split.length);
  out += fmt::format("        const long strip = {0}, row = strip / {1}, j = strip % {1} * {2};\n",
                     split.first("later"), per_outer, config.tile);
  out += row_pointers(turn.outer, 0, {{"const " + type, "in", "x"}}, "        ");
  return out + fmt::format("        next = x + j + i * {};\n      }}\n", turn.along.strides[0]);
}

/// The group of lines that the tile at hand asks for.
std::string next_lines(const PermuteKernel& kernel, const PermuteConfig& config, const Turn& turn,
                       const StripSplit& split) {
  const int64_t lines = lines_of_row(kernel, config.tile, split.strips);
  if (lines < config.tile) return fmt::format(", next + asked * {}", config.tile / lines * turn.along.strides[0]);
  return fmt::format(", next + asked / {0} * {1} + asked % {0} * {2}", lines / config.tile, turn.along.strides[0],
                     config.tile * kLineBytes / kernel.element_bytes);
}

/// Strips of `tile` rows of the output. Where a direction is no multiple of the tile, the last one begins earlier:
/// along a row it writes the same elements again, across rows it leaves out what another task writes.
std::string turn_text(const PermuteKernel& kernel, const PermuteConfig& config, const std::string& name) {
  const Turn turn = find_turn(kernel);
  const bool by_element = config.tile == 1;
  std::string out = by_element ? "" : tile_function(kernel, config, turn);
  const int64_t per_outer = ceil_div(turn.across.extent, config.tile);
  const StripSplit split = split_strips(turn, config);
  out += entry_head(kernel, name);
  const auto strips = [&](const std::string& indent) {
    return fmt::format(
               "{0}for (long strip = first; strip < last; ++strip) {{\n"
               "{0}  const long row = strip / {1}, j = strip % {1} * {2};\n",
               indent, per_outer, config.tile) +
           row_pointers(turn.outer, 0, pointers(kernel), indent + "  ");
  };
  out += fmt::format(
      "  for (long task = begin; task < end; ++task) {{\n    const long first = {};\n    const long last = {};\n",
      split.first("task"), split.last("first"));
  if (by_element) {
    out += strips("    ");
    out += fmt::format("      const {0}* __restrict from = x + j * {1};\n      {0}* __restrict to = y + j * {2};\n",
                       element_type(kernel.element_bytes), turn.across.strides[0], turn.across.strides[1]);
    return out + fmt::format("      for (long i = 0; i < {}; ++i) to[i] = from[i * {}];\n    }}\n  }}\n}}\n",
                             turn.along.extent, turn.along.strides[0]);
  }
  // Strips take turns by blocks, so that the lines and pages that one of them touched serve the next.
  const int64_t whole = turn.along.extent / config.tile * config.tile;
  const auto turned = [&](const std::string& indent, const std::string& calls) {
    std::string text = strips(indent);
    text +=
        fmt::format("{0}  const long top = j + {1} <= {2} ? j : {2} - {1};\n", indent, config.tile, turn.across.extent);
    text += fmt::format("{0}  x += top;\n{0}  y += top * {1};\n", indent, turn.across.strides[1]);
    return text + indent + "  " + calls + indent + "}\n";
  };
  out += fmt::format("    const long part = task % {}, stop = part == {} ? {} : (part + 1) * {};\n", split.parts,
                     split.parts - 1, whole, split.length);
  out += fmt::format("    for (long from = part * {}; from < stop; from += {}) {{\n", split.length, config.block);
  out += fmt::format("      const long to = from + {0} < stop ? from + {0} : stop;\n", config.block);
  if (config.ahead) out += next_block(kernel, config, turn, split);
  out += turned("      ", fmt::format("for (long i = from; i < to; i += {}{}) turn(x + i * {}, y + i, j - top{});\n",
                                      config.tile, config.ahead ? ", ++asked" : "", turn.along.strides[0],
                                      config.ahead ? next_lines(kernel, config, turn, split) : ""));
  out += "    }\n";
  if (whole < turn.along.extent) {
    const int64_t at = turn.along.extent - config.tile;
    out += fmt::format("    if (part == {}) {{\n", split.parts - 1);
    out += turned("      ", fmt::format("turn(x + {}, y + {}, j - top{});\n", at * turn.along.strides[0], at,
                                        config.ahead ? ", x" : ""));
    out += "    }\n";
  }
  out += "  }\n";
  if (config.stores == Stores::past_cache) out += "  __builtin_ia32_sfence();\n";
  return out + "}\n";
}

}  // namespace

std::vector<int> tile_choices(const PermuteKernel& kernel, Isa isa) {
  if (copies_rows(kernel)) return {0};
  const Turn turn = find_turn(kernel);
  std::vector<int> choices;
  if (turn.across.strides[0] == 1) {
    const int64_t register_bytes = widest_lanes(isa) * 4;
    constexpr int64_t kLargestTile = 16;  // more rows than that do not fit the registers
    for (int64_t tile = std::min(kLargestTile, register_bytes / kernel.element_bytes); tile >= 4; tile /= 2)
      if (tile <= turn.across.extent && tile <= turn.along.extent) choices.push_back(static_cast<int>(tile));
  }
  if (choices.empty()) choices.push_back(1);
  return choices;
}

bool can_store_past_cache(const PermuteKernel& kernel, int tile) {
  const auto is_line = [&](int64_t elements) { return elements * kernel.element_bytes % kLineBytes == 0; };
  if (tile == 0)  // tasks, which hold a power of two of elements, cut long rows between lines
    return is_line(kernel.nest.loops.back().extent) &&
           std::all_of(kernel.nest.loops.begin(), kernel.nest.loops.end() - 1,
                       [&](const Loop& loop) { return is_line(loop.strides[1]); });
  if (tile < 2 || tile * kernel.element_bytes != kLineBytes) return false;
  const Turn turn = find_turn(kernel);
  if (turn.along.extent % tile != 0) return false;
  const auto is_aligned = [&](const Loop& loop) { return is_line(loop.strides[1]); };
  return is_aligned(turn.across) && std::ranges::all_of(turn.outer.loops, is_aligned);
}

bool can_ask_ahead(const PermuteKernel& kernel, int tile, int64_t strips) {
  if (tile < 2 || strips == 0) return false;
  const int64_t whole = ceil_div(find_turn(kernel).across.extent, tile);
  const int64_t lines = lines_of_row(kernel, tile, std::min(strips, whole));
  return lines > 0 && (lines % tile == 0 || tile % lines == 0);
}

int64_t permute_task_count(const PermuteKernel& kernel, const PermuteConfig& config) {
  if (config.tile == 0) {
    const CopySplit split = split_copies(kernel, config);
    return ceil_div(outer_iterations(kernel.nest, 1), split.rows_per_task) * split.parts_per_row;
  }
  const Turn turn = find_turn(kernel);
  return split_strips(turn, config).tasks();
}

GeneratedSource emit_permute(const PermuteKernel& kernel, const PermuteConfig& config, const std::string& header) {
  const std::string name = "permute_kernel";
  return {header + (config.tile == 0 ? copy_text(kernel, config, name) : turn_text(kernel, config, name)), name};
}

}  // namespace attune::codegen
