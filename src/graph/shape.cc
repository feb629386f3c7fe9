#include "graph/shape.h"

#include "base/checked.h"

namespace attune {
namespace {

/// The dims of a tensor without elements may overflow on the way to their product of zero.
int64_t wrapping_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

}  // namespace

Shape to_shape(std::span<const int64_t> dims) { return {dims.begin(), dims.end()}; }

std::optional<Dims> concrete(const Shape& shape) {
  Dims dims;
  dims.reserve(shape.size());
  for (const Dim& dim : shape) {
    if (!dim.is_known()) return std::nullopt;
    dims.push_back(dim.value());
  }
  return dims;
}

std::optional<Dims> concrete(const std::optional<Shape>& shape) {
  if (!shape) return std::nullopt;
  return concrete(*shape);
}

std::optional<int64_t> checked_count(std::span<const int64_t> dims) {
  // A zero makes the tensor empty whatever the others are, but negative dims are wrong even then.
  bool has_zero = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    has_zero |= dim == 0;
  }
  if (has_zero) return 0;
  int64_t count = 1;
  for (const int64_t dim : dims) {
    const auto product = checked_mul(count, dim);
    if (!product) return std::nullopt;
    count = *product;
  }
  return count;
}

int64_t element_count(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count = wrapping_mul(count, dim);
  return count;
}

Dim element_count(const Shape& shape) {
  Dim count(1);
  for (const Dim& dim : shape) count = count * dim;
  return count;
}

Dims row_major_strides(std::span<const int64_t> dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = wrapping_mul(strides[i], dims[i]);
  return strides;
}

std::string to_text(std::span<const int64_t> dims) {
  if (dims.empty()) return "scalar";
  std::string out;
  for (size_t i = 0; i < dims.size(); ++i) out += (i ? "x" : "") + std::to_string(dims[i]);
  return out;
}

std::string to_text(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string out;
  for (size_t i = 0; i < shape.size(); ++i) out += (i ? "x" : "") + shape[i].text();
  return out;
}

std::string to_text(const std::optional<Shape>& shape) { return shape ? to_text(*shape) : "?"; }

std::optional<int64_t> normalize_axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

}  // namespace attune
