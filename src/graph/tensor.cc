#include "graph/tensor.h"

#include "base/memory.h"

#include <cstdlib>
#include <cstring>

namespace attune {
namespace {

constexpr size_t kAlignment = 64;  // one cache line, one AVX-512 vector

int64_t required_bytes(DType dtype, const Dims& dims, int64_t* count) {
  const auto elements = checked_count(dims);
  if (!elements)
    throw UserError("a tensor of {} {} has a negative or overflowing size", dtype_name(dtype), to_text(dims));
  const auto bytes = byte_size(dtype, *elements);
  if (!bytes) throw UserError("a tensor of {} {} overflows the address space", dtype_name(dtype), to_text(dims));
  *count = *elements;
  return *bytes;
}

}  // namespace

Tensor Tensor::allocate(DType dtype, Dims dims) {
  if (dtype == DType::undefined) throw InternalError("allocating a tensor without a dtype");
  Tensor result;
  const int64_t bytes = required_bytes(dtype, dims, &result.count_);
  check_memory(bytes, [&] { return fmt::format("a tensor of {} {}", dtype_name(dtype), to_text(dims)); });
  const size_t padded = (static_cast<size_t>(bytes) + kAlignment) / kAlignment * kAlignment;  // never zero bytes
  void* storage = std::aligned_alloc(kAlignment, padded);
  if (storage == nullptr)
    throw UserError("no memory for a tensor of {} {} ({} bytes)", dtype_name(dtype), to_text(dims), bytes);
  result.owner_ = std::shared_ptr<const void>(storage, [](const void* p) { std::free(const_cast<void*>(p)); });
  result.data_ = static_cast<std::byte*>(storage);
  result.dtype_ = dtype;
  result.dims_ = std::move(dims);
  result.writable_ = true;
  return result;
}

Tensor Tensor::zeros(DType dtype, Dims dims) {
  Tensor result = allocate(dtype, std::move(dims));
  std::memset(result.data_, 0, static_cast<size_t>(result.size_bytes()));
  return result;
}

Tensor Tensor::borrow(DType dtype, Dims dims, const std::byte* data, std::shared_ptr<const void> owner) {
  Tensor result;
  required_bytes(dtype, dims, &result.count_);
  result.dtype_ = dtype;
  result.dims_ = std::move(dims);
  result.data_ = const_cast<std::byte*>(data);  // writable_ stays false
  result.owner_ = std::move(owner);
  return result;
}

int64_t Tensor::size_bytes() const { return byte_size(dtype_, count_).value_or(0); }

std::byte* Tensor::mutable_bytes() {
  if (!writable_) throw InternalError("writing to a read-only tensor");
  return data_;
}

Tensor Tensor::reshaped(Dims dims) const {
  if (checked_count(dims) != count_) throw InternalError("reshaping {} into {}", to_text(dims_), to_text(dims));
  Tensor result = *this;
  result.dims_ = std::move(dims);
  return result;
}

Tensor Tensor::clone() const {
  Tensor result = allocate(dtype_, dims_);
  std::memcpy(result.data_, data_, static_cast<size_t>(size_bytes()));
  return result;
}

void Tensor::type_mismatch(DType wanted) const {
  throw InternalError("a {} tensor is read as {}", dtype_name(dtype_), dtype_name(wanted));
}

}  // namespace attune
