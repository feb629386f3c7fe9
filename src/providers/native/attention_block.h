// What one call of the attention loops computes. Also part of the text of generated kernels.
#pragma once

#include <cstdint>

namespace attune::native {

enum class AttentionElement : uint8_t { f32, bf16 };

/// A block of queries of one head, with all of its keys. Strides are in elements.
struct AttentionBlock {
  AttentionElement element = AttentionElement::f32;  // of q, k, v, y and `added`
  const void *q = nullptr, *k = nullptr, *v = nullptr;
  void* y = nullptr;
  int64_t q_stride = 0, k_stride = 0, v_stride = 0, y_stride = 0;  // from row to row
  int64_t queries = 0, keys = 0, head_size = 0, value_size = 0;
  float scale = 1;

  const void* added = nullptr;       // a mask that is added to the scores, or
  const uint8_t* visible = nullptr;  // one of bools: where it is not `visible_value` the score is `fill`
  uint8_t visible_value = 1;
  int64_t mask_row_stride = 0, mask_column_stride = 0;

  bool causal = false;        // the first query sees `first_visible` keys, each further one one more;
  int64_t first_visible = 0;  // scores of the others are `fill`
  float fill = 0;

  float* workspace = nullptr;  // of workspace_floats
};

}  // namespace attune::native
