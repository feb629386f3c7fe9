#include "providers/generated/attention_text.h"

#include "codegen/text.h"
#include "providers/generated/attention_loops_text.h"

#include <algorithm>

namespace attune::generated {
namespace {

using codegen::fill_in;
using codegen::float_literal;

constexpr size_t kMask = AttentionAttributes::kMask;

/// Without what only a file has: kernels are compiled without headers.
std::string without_directives(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    if (!line.starts_with("#include") && !line.starts_with("#pragma once")) out += line;
    text.remove_prefix(end + 1);
  }
  return out;
}

constexpr std::string_view kTypes = R"(typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
#define LANES {lanes}
#define TILE_ROWS {tile_rows}
#define TILE_VECTORS {tile_vectors}
#define KEY_BLOCK {key_block}
#define GROUP_TILES {group_tiles}
#define ROWS_USED {rows_used}
#define KEY_VECTORS_USED {key_vectors_used}
#define VALUE_VECTORS_USED {value_vectors_used}
#define ON_TILE_REGISTERS {on_tile_registers}

)";

constexpr std::string_view kEntry = R"(
extern "C" __attribute__((visibility("default"))) void attention({parameters}) {
  using namespace attune::native;
  typedef {type} Element;
  alignas(64) float scratch[{scratch}];
{registers}  for (long task = begin; task < end; ++task) {
    const long first = ({blocks} - 1 - task % {blocks}) * {queries};
    const long h = task / {blocks} % {heads}, b = task / {blocks} / {heads};
    AttentionBlock block;
    block.element = AttentionElement::{element};
    block.q = (const Element*)inputs[0] + {q_offset} + b * {q_batch} + h * {q_head} + first * {q_row};
    block.k = (const Element*)inputs[1] + {k_offset} + b * {k_batch} + h * {k_head};
    block.v = (const Element*)inputs[2] + {v_offset} + b * {v_batch} + h * {v_head};
    block.y = (Element*)outputs[0] + b * {y_batch} + h * {y_head} + first * {y_row};
    block.q_stride = {q_row}, block.k_stride = {k_row}, block.v_stride = {v_row}, block.y_stride = {y_row};
    block.queries = lower({queries}, {all_queries} - first), block.keys = {keys};
    block.head_size = {head_size}, block.value_size = {value_size};
    block.scale = {scale};
{mask}    block.causal = {causal}, block.first_visible = {first_visible} + first, block.fill = {fill};
    block.workspace = scratch;
    Attention<Element, {products}>(block).run();
  }
}
)";

std::string mask_text(const Workload& workload, const AttentionProblem& problem) {
  if (!workload.has_input(kMask)) return "";
  const bool bools = workload.input(kMask).dtype == DType::boolean;
  const MaskStrides& mask = problem.mask;
  return fmt::format(
      "    block.{} = (const {}*)inputs[{}] + b * {} + h * {} + first * {};\n"
      "    block.mask_row_stride = {}, block.mask_column_stride = {}, block.visible_value = {};\n",
      bools ? "visible" : "added", bools ? "uint8_t" : "Element", kMask, mask.batch, mask.head, mask.row, mask.row,
      mask.column, problem.attributes.true_is_visible ? 1 : 0);
}

int64_t rounded_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/// Bits of whole tiles and of what `count` leaves beside them.
int64_t tiles_of(int64_t count, int64_t tile) {
  const int64_t whole = count >= tile ? int64_t{1} << tile : 0, rest = count % tile;
  return whole | (rest > 0 ? int64_t{1} << rest : 0);
}

int64_t rows_used(const AttentionProblem& problem, const AttentionChoice& choice) {
  return tiles_of(std::min(choice.queries, problem.queries), choice.tile_rows) |
         tiles_of(problem.queries % choice.queries, choice.tile_rows);
}

int64_t vectors_used(int64_t elements, const AttentionChoice& choice) {
  return tiles_of((elements + choice.lanes - 1) / choice.lanes, choice.tile_vectors);
}

int64_t key_vectors_used(const AttentionProblem& problem, const AttentionChoice& choice) {
  if (problem.attributes.causal) return (int64_t{2} << choice.tile_vectors) - 1;  // blocks end where queries do
  return vectors_used(std::min(problem.keys, choice.key_block), choice) |
         vectors_used(problem.keys % choice.key_block, choice);
}

}  // namespace

AttentionProblem attention_problem(const Workload& workload) {
  const Node node = workload.node();
  return {OpContext(node), workload.input(0).dims, workload.input(1).dims, workload.input(2).dims,
          workload.has_input(kMask) ? &workload.input(kMask).dims : nullptr};
}

int64_t attention_tasks(const AttentionProblem& problem, const AttentionChoice& choice) {
  const int64_t blocks = (problem.queries + choice.queries - 1) / choice.queries;
  return problem.batch * problem.attributes.heads * blocks;
}

int64_t attention_scratch_bytes(const AttentionProblem& problem, const AttentionChoice& choice) {
  // As Scratch of attention_products.h, or more.
  const int64_t padded = rounded_up(problem.attributes.value_size, choice.lanes);
  const int64_t group = choice.group_tiles * choice.tile_rows, head = problem.attributes.head_size;
  const bool on_tiles = choice.products == AttentionProducts::tiles;
  const int64_t size = on_tiles ? std::max(rounded_up(head, 32) / 2, head) : head;
  int64_t floats = 0;
  for (const int64_t part :
       {choice.key_block * size, choice.key_block * padded, group * choice.key_block,
        rounded_up(choice.queries, 16) * padded, choice.queries + choice.lanes, choice.queries + choice.lanes,
        group + choice.lanes, group + choice.lanes, group + choice.lanes, group * size})
    floats += rounded_up(part, 16);
  return floats * static_cast<int64_t>(sizeof(float));
}

GeneratedSource emit_attention(const Workload& workload, const AttentionChoice& choice, const std::string& header) {
  const AttentionProblem problem = attention_problem(workload);
  const AttentionAttributes& attributes = problem.attributes;
  const auto number = [](int64_t value) { return std::to_string(value); };
  const bool wide = workload.input(0).dtype == DType::f32;
  const bool in_pairs = choice.products != AttentionProducts::wide;
  const bool on_tiles = choice.products == AttentionProducts::tiles;
  std::vector<std::pair<std::string_view, std::string>> values = {
      {"lanes", number(choice.lanes)},
      {"tile_rows", number(choice.tile_rows)},
      {"tile_vectors", number(choice.tile_vectors)},
      {"key_block", number(choice.key_block)},
      {"group_tiles", number(choice.group_tiles)},
      {"rows_used", number(rows_used(problem, choice))},
      {"key_vectors_used", number(key_vectors_used(problem, choice))},
      {"value_vectors_used", number(vectors_used(attributes.value_size, choice))},
      {"parameters", std::string(codegen::kEntryParameters)},
      {"on_tile_registers", on_tiles ? "1" : "0"},
      {"registers", on_tiles ? "  const TileRegisters registers;\n" : ""},
      {"products", in_pairs ? "PairProducts" : "WideProducts<Element>"},
      {"type", wide ? "float" : "uint16_t"},
      {"element", wide ? "f32" : "bf16"},
      {"scratch", number(attention_scratch_bytes(problem, choice) / static_cast<int64_t>(sizeof(float)))},
      {"blocks", number((problem.queries + choice.queries - 1) / choice.queries)},
      {"queries", number(choice.queries)},
      {"all_queries", number(problem.queries)},
      {"keys", number(problem.keys)},
      {"heads", number(attributes.heads)},
      {"head_size", number(attributes.head_size)},
      {"value_size", number(attributes.value_size)},
      {"scale", float_literal(attributes.scale)},
      {"mask", mask_text(workload, problem)},
      {"causal", attributes.causal ? "true" : "false"},
      {"first_visible", number(problem.first_visible())},
      {"fill", float_literal(attributes.fill.value_or(0.0F))},
  };
  const auto add = [&](std::string_view offset, std::string_view batch, std::string_view head, std::string_view row,
                       const HeadStrides& strides) {
    for (const auto& [name, value] : {std::pair(offset, strides.offset), std::pair(batch, strides.batch),
                                      std::pair(head, strides.head), std::pair(row, strides.row)})
      values.emplace_back(name, number(value));
  };
  add("q_offset", "q_batch", "q_head", "q_row", problem.q);
  add("k_offset", "k_batch", "k_head", "k_row", problem.k);
  add("v_offset", "v_batch", "v_head", "v_row", problem.v);
  add("y_offset", "y_batch", "y_head", "y_row", problem.y);
  GeneratedSource source;
  source.entry = "attention";
  source.text = header + fill_in(kTypes, values);
  for (const std::string_view part :
       {kVectorMathText, kAttentionBlockText, kAttentionTilesText, kAttentionProductsText, kAttentionWeightsText})
    source.text += without_directives(part);
  if (in_pairs) source.text += without_directives(kAttentionPairsText);
  source.text += without_directives(kAttentionBodyText);
  source.text += fill_in(kEntry, values);
  return source;
}

}  // namespace attune::generated
