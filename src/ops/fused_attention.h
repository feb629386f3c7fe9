// What the attributes of attune::FusedAttention mean: where the heads of its operands lie, and which scores count.
#pragma once

#include "ops/context.h"

#include <optional>

namespace attune {

/// The outer axes of an operand in memory, slowest first; the elements of a head come last. [batch, rows, columns] and
/// [batch, rows, heads, size] are both batch_rows_heads.
enum class HeadOrder : uint8_t { batch_rows_heads, rows_batch_heads, batch_heads_rows };
std::string_view head_order_name(HeadOrder order);  // "bsh", "sbh", "bhs"

/// Heads of an operand; strides in elements.
struct HeadStrides {
  int64_t offset = 0, batch = 0, head = 0, row = 0;
  int64_t at(int64_t b, int64_t h, int64_t i) const { return offset + b * batch + h * head + i * row; }
};

/// Strides of a mask of rank 0 to 4 that broadcasts to [batch, heads, queries, keys]; 0 where it broadcasts.
struct MaskStrides {
  int64_t batch = 0, head = 0, row = 0, column = 0;
};

/// What the attributes say, whatever the shapes.
struct AttentionAttributes {
  enum Operand : size_t { kQuery, kKey, kValue, kMask, kResult = 3 };  // positions among `orders` and the inputs

  explicit AttentionAttributes(const OpContext& context);

  int64_t heads = 0, head_size = 0, value_size = 0;
  float scale = 1;
  std::vector<HeadOrder> orders;  // of Q, K, V and the result
  std::vector<int64_t> columns;   // of Q, K and V: where the heads begin in the last axis of an operand of rank 3
  bool causal = false;            // key j is hidden from query i where j - i > keys - queries
  std::optional<float> fill;      // the score of what is hidden by `causal` or by a mask of bools
  bool true_is_visible = true;    // in a mask of bools

  int64_t size_of(size_t operand) const { return operand >= kValue ? value_size : head_size; }
};

/// An attention whose shapes are known.
struct AttentionProblem {
  AttentionProblem(const OpContext& context, const Dims& q, const Dims& k, const Dims& v, const Dims* mask);

  AttentionAttributes attributes;
  int64_t batch = 0, queries = 0, keys = 0;
  HeadStrides q, k, v, y;
  MaskStrides mask;

  /// Keys that the first query sees; each further one sees one more.
  int64_t first_visible() const { return attributes.causal ? keys - queries + 1 : keys; }
};

}  // namespace attune
