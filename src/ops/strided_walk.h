// Walks an index space in row-major order while keeping the element offsets of N strided operands: the one loop under
// broadcasting, transposing, slicing and reducing.
#pragma once

#include "graph/shape.h"

#include <array>
#include <span>

namespace attune {

template <size_t N> class StridedWalk {
 public:
  StridedWalk(std::span<const int64_t> dims, std::array<Dims, N> strides)
      : dims_(dims.begin(), dims.end()), strides_(std::move(strides)), index_(dims.size(), 0) {}

  /// Goes to the linear row-major position.
  void seek(int64_t position) {
    offsets_.fill(0);
    for (size_t axis = dims_.size(); axis-- > 0;) {
      index_[axis] = position % dims_[axis];
      position /= dims_[axis];
      for (size_t i = 0; i < N; ++i) offsets_[i] += index_[axis] * strides_[i][axis];
    }
  }

  /// One step in row-major order; wraps to the start after the last.
  void next() {
    for (size_t axis = dims_.size(); axis-- > 0;) {
      if (++index_[axis] < dims_[axis]) {
        for (size_t i = 0; i < N; ++i) offsets_[i] += strides_[i][axis];
        return;
      }
      for (size_t i = 0; i < N; ++i) offsets_[i] -= (dims_[axis] - 1) * strides_[i][axis];
      index_[axis] = 0;
    }
  }

  int64_t offset(size_t operand) const { return offsets_[operand]; }
  std::span<const int64_t> index() const { return index_; }

 private:
  Dims dims_;
  std::array<Dims, N> strides_;
  Dims index_;
  std::array<int64_t, N> offsets_{};
};

}  // namespace attune
