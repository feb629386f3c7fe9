// Memory of one operand in its own layout between two guard zones, as kernels get it: 64-byte aligned.
#pragma once

#include "kernel/tensor_spec.h"

namespace attune::tune {

class GuardedBuffer {
 public:
  explicit GuardedBuffer(const TensorSpec& spec);
  /// Untyped memory, such as a workspace.
  explicit GuardedBuffer(int64_t bytes);

  const TensorSpec& spec() const { return spec_; }
  int64_t bytes() const { return bytes_; }
  std::byte* data();
  const std::byte* data() const;

  /// Overwrites everything between the guards. All bits set are NaN in every float format that has one.
  void poison(int byte);
  /// Writes a plain tensor in this layout, padding channels zero.
  void fill(const Tensor& plain);
  /// Takes over what another one of the same layout holds.
  void copy(const GuardedBuffer& other);
  /// The contents in plain order.
  Tensor plain() const;

  bool guards_are_whole() const;
  bool same_bytes(const GuardedBuffer& other) const;
  /// Whether the channels that only fill up a block are zero.
  bool padding_is_zero() const;

 private:
  TensorSpec spec_;
  int64_t bytes_ = 0;
  Tensor storage_;
};

}  // namespace attune::tune
