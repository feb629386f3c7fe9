// A dense row-major tensor with shared storage. Copies share the storage; constants borrow it from the file mapping
// they came from, so a large initializer is never duplicated.
#pragma once

#include "base/error.h"
#include "base/float_types.h"
#include "graph/dtype.h"
#include "graph/shape.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>

namespace attune {

class FileMap;
class LazyBytes;

template <class T> constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, double>)
    return DType::f64;
  else if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<T, Half>)
    return DType::f16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return DType::bf16;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::i64;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::i32;
  else if constexpr (std::is_same_v<T, int16_t>)
    return DType::i16;
  else if constexpr (std::is_same_v<T, int8_t>)
    return DType::i8;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return DType::u64;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return DType::u32;
  else if constexpr (std::is_same_v<T, uint16_t>)
    return DType::u16;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return DType::u8;
  else if constexpr (std::is_same_v<T, bool>)
    return DType::boolean;
  else
    return DType::undefined;
}

class Tensor {
 public:
  Tensor() = default;
  /// Uninitialised, 64-byte aligned. Throws UserError when the size overflows or exceeds the memory of the machine.
  static Tensor allocate(DType dtype, Dims dims);
  static Tensor zeros(DType dtype, Dims dims);
  /// Zeroed, on large pages where it is large: for what lives as long as a session and is read in every run.
  static Tensor lasting(DType dtype, Dims dims);
  /// Writable, in memory of the right size that it keeps alive.
  static Tensor adopt(DType dtype, Dims dims, std::shared_ptr<std::byte> storage);
  /// Read-only view of bytes kept alive by `owner`; `file` says whose mapping they are in, if any.
  static Tensor borrow(DType dtype, Dims dims, const std::byte* data, std::shared_ptr<const void> owner,
                       const FileMap* file = nullptr);
  /// Read-only view of bytes that may lie anywhere: they are copied when first looked at, see release_pages().
  static Tensor borrow_unaligned(DType dtype, Dims dims, std::span<const std::byte> data,
                                 std::shared_ptr<const void> owner, const FileMap* file);
  /// Read-only contents that `fill` computes when first looked at, and again after release_pages(). It has to write the
  /// same bytes each time.
  static Tensor computed(DType dtype, Dims dims, std::function<void(std::byte*)> fill);
  /// Writable view of bytes that the caller keeps alive as long as the tensor and its copies.
  static Tensor wrap(DType dtype, Dims dims, std::byte* data);
  template <class T> static Tensor from(Dims dims, std::span<const T> values);
  template <class T> static Tensor scalar(T value) { return from<T>({}, std::span<const T>(&value, 1)); }
  static Tensor vector(std::span<const int64_t> values) {
    return from<int64_t>({static_cast<int64_t>(values.size())}, values);
  }

  bool empty() const { return data_ == nullptr && !lazy_; }  // no storage at all, as after the default constructor
  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  int64_t rank() const { return static_cast<int64_t>(dims_.size()); }
  int64_t dim(int64_t axis) const { return dims_[static_cast<size_t>(axis)]; }
  int64_t count() const { return count_; }
  int64_t size_bytes() const;

  const std::byte* bytes() const { return lazy_ ? lazy_bytes() : data_; }
  std::byte* mutable_bytes();  // throws InternalError on borrowed storage
  /// Typed access; throws InternalError when T is not the dtype (bytes of any 8-bit type may be read as uint8_t).
  template <class T> const T* data() const {
    check_type<T>();
    return reinterpret_cast<const T*>(bytes());
  }
  template <class T> T* mutable_data() {
    check_type<T>();
    return reinterpret_cast<T*>(mutable_bytes());
  }

  /// Says that the contents are not needed soon: what can be read or computed again is let go of until it is.
  /// Pointers into the tensor end with that, unless somebody has it held().
  void release_pages() const;
  bool reloadable() const { return lazy_ != nullptr || file_ != nullptr; }  // whether release_pages() does something
  /// The same tensor with its contents in memory, for as long as it or a copy lives.
  Tensor held() const;

  /// The same storage under other dims of equal count.
  Tensor reshaped(Dims dims) const;
  Tensor clone() const;

 private:
  enum class Contents { undefined, zero };
  static Tensor make(DType dtype, Dims dims, Contents contents);

  template <class T> void check_type() const {
    if (dtype_ == dtype_of<T>()) return;
    if (std::is_same_v<T, uint8_t> && bit_width(dtype_) <= 8) return;
    type_mismatch(dtype_of<T>());
  }
  [[noreturn]] void type_mismatch(DType wanted) const;
  const std::byte* lazy_bytes() const;

  DType dtype_ = DType::undefined;
  Dims dims_;
  int64_t count_ = 0;
  std::byte* data_ = nullptr;
  bool writable_ = false;
  const FileMap* file_ = nullptr;      // that data_ points into; the owner keeps it
  std::shared_ptr<LazyBytes> lazy_;    // shared with copies; instead of data_
  std::shared_ptr<const void> owner_;  // shared: values, constants and views of one buffer
};

template <class T> Tensor Tensor::from(Dims dims, std::span<const T> values) {
  Tensor result = allocate(dtype_of<T>(), std::move(dims));
  if (result.count() != static_cast<int64_t>(values.size()))
    throw InternalError("{} values for a tensor of {}", values.size(), to_text(result.dims()));
  T* out = result.mutable_data<T>();
  for (size_t i = 0; i < values.size(); ++i) out[i] = values[i];
  return result;
}

}  // namespace attune
