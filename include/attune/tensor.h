// Tensors at the border of attune: dense, row-major, described by dtype, shape and address.
#pragma once

#include <attune/export.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace attune {
inline namespace v1 {

/// Element types. Those of 4 and 2 bits are packed, the first element in the low bits. The numbers stay as they are.
enum class DType : uint8_t {
  undefined = 0,
  f64 = 1,
  f32 = 2,
  f16 = 3,
  bf16 = 4,
  f8e4m3fn = 5,
  f8e4m3fnuz = 6,
  f8e5m2 = 7,
  f8e5m2fnuz = 8,
  f8e8m0 = 9,
  f4e2m1 = 10,
  i64 = 11,
  i32 = 12,
  i16 = 13,
  i8 = 14,
  i4 = 15,
  i2 = 16,
  u64 = 17,
  u32 = 18,
  u16 = 19,
  u8 = 20,
  u4 = 21,
  u2 = 22,
  boolean = 23,  // one byte, 0 or 1
};

ATTUNE_API const char* dtype_name(DType dtype);  // "f32", "bool" …
ATTUNE_API int dtype_bits(DType dtype);          // 0 for undefined

using Shape = std::vector<int64_t>;

/// Bytes of a tensor. Throws UserError for a negative dim and on overflow.
ATTUNE_API size_t tensor_bytes(DType dtype, const Shape& shape);

/// The dtype of a C++ type; for f16, bf16 and narrower ones give the DType and an address instead.
template <class T> constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, double>)
    return DType::f64;
  else if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<T, bool>)
    return DType::boolean;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return sizeof(T) == 8 ? DType::i64 : sizeof(T) == 4 ? DType::i32 : sizeof(T) == 2 ? DType::i16 : DType::i8;
  else if constexpr (std::is_integral_v<T>)
    return sizeof(T) == 8 ? DType::u64 : sizeof(T) == 4 ? DType::u32 : sizeof(T) == 2 ? DType::u16 : DType::u8;
  else
    return DType::undefined;
}

/// Memory of the caller that attune reads. It must hold tensor_bytes(dtype, shape) bytes until the call returns.
/// Addresses that are multiples of 64 are read in place, others are copied first.
struct TensorView {
  DType dtype = DType::undefined;
  Shape shape;
  const void* data = nullptr;

  TensorView() = default;
  TensorView(DType type, Shape dims, const void* address) : dtype(type), shape(std::move(dims)), data(address) {}
  template <class T> TensorView(Shape dims, const T* values) : TensorView(dtype_of<T>(), std::move(dims), values) {
    static_assert(dtype_of<T>() != DType::undefined, "give the DType of elements that are no C++ number");
  }
};

/// Memory of the caller that attune writes; as above.
struct MutableTensorView {
  DType dtype = DType::undefined;
  Shape shape;
  void* data = nullptr;

  MutableTensorView() = default;
  MutableTensorView(DType type, Shape dims, void* address) : dtype(type), shape(std::move(dims)), data(address) {}
  template <class T> MutableTensorView(Shape dims, T* values)
      : MutableTensorView(dtype_of<T>(), std::move(dims), values) {
    static_assert(dtype_of<T>() != DType::undefined, "give the DType of elements that are no C++ number");
  }
};

/// A tensor with memory of its own, aligned to 64 bytes. Moves, and is copied only by clone().
class ATTUNE_API Tensor {
 public:
  Tensor();                          // none: empty() is true
  Tensor(DType dtype, Shape shape);  // zeros
  ~Tensor();
  Tensor(Tensor&&) noexcept;
  Tensor& operator=(Tensor&&) noexcept;

  bool empty() const { return data_ == nullptr; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  size_t count() const { return count_; }  // elements
  size_t bytes() const;
  Tensor clone() const;

  const void* data() const { return data_; }
  void* data() { return data_; }
  /// Typed access. Throws UserError when T is not the dtype.
  template <class T> const T* data_as() const { return static_cast<const T*>(checked(dtype_of<T>())); }
  template <class T> T* data_as() { return static_cast<T*>(const_cast<void*>(checked(dtype_of<T>()))); }

  // A tensor is accepted wherever a view is.
  operator TensorView() const { return {dtype_, shape_, data_}; }   // NOLINT(google-explicit-constructor)
  operator MutableTensorView() { return {dtype_, shape_, data_}; }  // NOLINT(google-explicit-constructor)

 private:
  friend struct TensorAccess;
  const void* checked(DType wanted) const;

  DType dtype_ = DType::undefined;
  Shape shape_;
  size_t count_ = 0;
  void* data_ = nullptr;
  std::shared_ptr<void> owner_;
};

}  // namespace v1
}  // namespace attune
