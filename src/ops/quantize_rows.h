// Quantization granularity: how scales and zero points are laid over a tensor, as rows along which the parameter is
// constant or advances with the element.
#pragma once

#include "ops/context.h"

namespace attune {

struct QuantizeRow {
  int64_t offset = 0;     // of the first element
  int64_t length = 0;     // elements
  int64_t parameter = 0;  // index of the parameter of the first element
};

class QuantizeRows {
 public:
  /// Per tensor (one scale), per axis (a vector as long as `axis`) or blocked (the rank of the data). Fails, naming the
  /// node, when the shape of the scale is none of these.
  QuantizeRows(const OpContext& context, const Dims& data, const Dims& scale, int64_t axis, int64_t block_size);

  int64_t count() const { return count_; }
  QuantizeRow row(int64_t i) const;
  int64_t parameter_step() const { return step_; }  // 0: one parameter for the row, 1: one for each element
  int64_t typical_length() const { return length_; }

 private:
  enum class Kind : uint8_t { per_tensor, per_axis, per_last_axis, blocked, blocked_last_axis };
  Kind kind_ = Kind::per_tensor;
  int64_t elements_ = 0;
  int64_t axis_ = 1;    // dims of the quantization axis
  int64_t inner_ = 1;   // elements below it
  int64_t block_ = 1;   // elements of the axis that share a parameter
  int64_t blocks_ = 1;  // along the axis
  int64_t count_ = 0;
  int64_t length_ = 1;
  int64_t step_ = 0;
};

}  // namespace attune
