#include "api/guarded.h"
#include "api/tensor_access.h"

#include <attune/tensor.h>

#include <cstring>

namespace attune {
inline namespace v1 {
namespace {

// The public numbers are frozen; whoever changes the internal list sees it here.
constexpr bool same(DType dtype, inner::DType other) { return static_cast<int>(dtype) == static_cast<int>(other); }
static_assert(same(DType::undefined, inner::DType::undefined) && same(DType::f64, inner::DType::f64) &&
              same(DType::f32, inner::DType::f32) && same(DType::f16, inner::DType::f16) &&
              same(DType::bf16, inner::DType::bf16) && same(DType::f8e4m3fn, inner::DType::f8e4m3fn) &&
              same(DType::f8e4m3fnuz, inner::DType::f8e4m3fnuz) && same(DType::f8e5m2, inner::DType::f8e5m2) &&
              same(DType::f8e5m2fnuz, inner::DType::f8e5m2fnuz) && same(DType::f8e8m0, inner::DType::f8e8m0) &&
              same(DType::f4e2m1, inner::DType::f4e2m1) && same(DType::i64, inner::DType::i64) &&
              same(DType::i32, inner::DType::i32) && same(DType::i16, inner::DType::i16) &&
              same(DType::i8, inner::DType::i8) && same(DType::i4, inner::DType::i4) &&
              same(DType::i2, inner::DType::i2) && same(DType::u64, inner::DType::u64) &&
              same(DType::u32, inner::DType::u32) && same(DType::u16, inner::DType::u16) &&
              same(DType::u8, inner::DType::u8) && same(DType::u4, inner::DType::u4) &&
              same(DType::u2, inner::DType::u2) && same(DType::boolean, inner::DType::boolean));

}  // namespace

inner::DType to_inner(DType dtype) {
  if (dtype > DType::boolean) throw UserError(fmt::format("{} is no dtype", static_cast<int>(dtype)));
  return static_cast<inner::DType>(dtype);
}
DType from_inner(inner::DType dtype) { return static_cast<DType>(dtype); }

const char* dtype_name(DType dtype) { return inner::dtype_text(to_inner(dtype)); }
int dtype_bits(DType dtype) { return inner::dtype_bits(to_inner(dtype)); }

size_t tensor_bytes(DType dtype, const Shape& shape) {
  const auto count = checked_count(shape);
  const auto bytes = count ? byte_size(to_inner(dtype), *count) : std::nullopt;
  if (!bytes) throw UserError(fmt::format("a tensor of {} has a negative or overflowing size", attune::to_text(shape)));
  return static_cast<size_t>(*bytes);
}

Tensor TensorAccess::from_inner(inner::Tensor tensor) {
  Tensor result;
  result.dtype_ = v1::from_inner(tensor.dtype());
  result.shape_ = tensor.dims();
  result.count_ = static_cast<size_t>(tensor.count());
  result.data_ = tensor.mutable_bytes();
  result.owner_ = std::make_shared<inner::Tensor>(std::move(tensor));
  return result;
}

Tensor::Tensor() = default;
Tensor::Tensor(DType dtype, Shape shape) {
  if (dtype == DType::undefined) throw UserError("a tensor needs a dtype");
  *this = guarded([&] { return TensorAccess::from_inner(inner::Tensor::zeros(to_inner(dtype), std::move(shape))); });
}
Tensor::~Tensor() = default;
Tensor::Tensor(Tensor&& other) noexcept { *this = std::move(other); }
Tensor& Tensor::operator=(Tensor&& other) noexcept {
  dtype_ = std::exchange(other.dtype_, DType::undefined);
  shape_ = std::exchange(other.shape_, {});
  count_ = std::exchange(other.count_, 0);
  data_ = std::exchange(other.data_, nullptr);
  owner_ = std::exchange(other.owner_, nullptr);
  return *this;
}

size_t Tensor::bytes() const { return empty() ? 0 : tensor_bytes(dtype_, shape_); }

Tensor Tensor::clone() const {
  if (empty()) return {};
  Tensor copy(dtype_, shape_);
  std::memcpy(copy.data_, data_, bytes());
  return copy;
}

const void* Tensor::checked(DType wanted) const {
  if (wanted != dtype_)
    throw UserError(fmt::format("reading a tensor of {} as {}", dtype_name(dtype_), dtype_name(wanted)));
  return data_;
}

}  // namespace v1
}  // namespace attune
