#include "ops/quantize_rows.h"

#include <algorithm>

namespace attune {
namespace {

constexpr int64_t kTensorRow = 16'384;  // a tensor with one scale is cut into rows so that they can run in parallel

int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace

QuantizeRows::QuantizeRows(const OpContext& context, const Dims& data, const Dims& scale, int64_t axis,
                           int64_t block_size)
    : elements_(element_count(data)) {
  if (block_size < 0) context.fail("attribute 'block_size' is {}, expected a positive number", block_size);
  const bool blocked = block_size > 0 && scale.size() == data.size() && !data.empty();
  if (!blocked && element_count(scale) == 1) {
    length_ = kTensorRow;
    count_ = ceil_div(elements_, length_);
    return;
  }
  if (!blocked && scale.size() != 1)
    context.fail("a scale of shape {} for data of {} is neither a scalar, a vector nor, with block_size, blocked",
                 to_text(scale), to_text(data));

  const auto at = static_cast<size_t>(context.axis_in_range(axis, static_cast<int64_t>(data.size())));
  axis_ = data[at];
  inner_ = element_count(std::span(data).subspan(at + 1));
  const int64_t outer = element_count(std::span(data).first(at));
  if (!blocked) {
    if (scale[0] != axis_)
      context.fail("{} scales for axis {} of data of {}; one for each of its {} slices is needed", scale[0], at,
                   to_text(data), axis_);
    kind_ = inner_ == 1 ? Kind::per_last_axis : Kind::per_axis;
    length_ = inner_ == 1 ? axis_ : inner_;
    step_ = inner_ == 1 ? 1 : 0;
    count_ = elements_ == 0 ? 0 : elements_ / length_;
    return;
  }

  block_ = block_size;
  blocks_ = ceil_div(axis_, block_);
  Dims expected = data;
  expected[at] = blocks_;
  if (scale != expected)
    context.fail("a scale of shape {} for data of {} in blocks of {} along axis {}; expected {}", to_text(scale),
                 to_text(data), block_, at, to_text(expected));
  kind_ = inner_ == 1 ? Kind::blocked_last_axis : Kind::blocked;
  length_ = inner_ == 1 ? std::min(block_, axis_) : inner_;
  step_ = inner_ == 1 ? 0 : 1;
  count_ = elements_ == 0 ? 0 : (inner_ == 1 ? outer * blocks_ : outer * axis_);
}

QuantizeRow QuantizeRows::row(int64_t i) const {
  switch (kind_) {
    case Kind::per_tensor: return {i * length_, std::min(length_, elements_ - i * length_), 0};
    case Kind::per_axis: return {i * length_, length_, i % axis_};
    case Kind::per_last_axis: return {i * length_, length_, 0};
    case Kind::blocked: return {i * length_, length_, (i / axis_ * blocks_ + i % axis_ / block_) * inner_};
    default: {
      const int64_t start = i % blocks_ * block_;
      return {i / blocks_ * axis_ + start, std::min(block_, axis_ - start), i};
    }
  }
}

}  // namespace attune
