#include "graph/tensor.h"

#include "base/file_map.h"
#include "base/large_pages.h"
#include "base/memory.h"
#include "graph/lazy_bytes.h"

#include <algorithm>
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

Tensor Tensor::allocate(DType dtype, Dims dims) { return make(dtype, std::move(dims), Contents::undefined); }
Tensor Tensor::zeros(DType dtype, Dims dims) { return make(dtype, std::move(dims), Contents::zero); }

Tensor Tensor::lasting(DType dtype, Dims dims) {
  int64_t count = 0;
  const int64_t bytes = required_bytes(dtype, dims, &count);
  if (static_cast<size_t>(bytes) < kLargePage) return zeros(dtype, std::move(dims));
  check_memory(bytes, [&] { return fmt::format("a tensor of {} {}", dtype_name(dtype), to_text(dims)); });
  auto storage = allocate_large(static_cast<size_t>(bytes));
  if (!storage) throw UserError("no memory for a tensor of {} {} ({} bytes)", dtype_name(dtype), to_text(dims), bytes);
  return adopt(dtype, std::move(dims), std::move(storage));
}

Tensor Tensor::adopt(DType dtype, Dims dims, std::shared_ptr<std::byte> storage) {
  Tensor result = wrap(dtype, std::move(dims), storage.get());
  result.owner_ = std::move(storage);
  return result;
}

Tensor Tensor::make(DType dtype, Dims dims, Contents contents) {
  if (dtype == DType::undefined) throw InternalError("allocating a tensor without a dtype");
  Tensor result;
  const int64_t bytes = required_bytes(dtype, dims, &result.count_);
  check_memory(bytes, [&] { return fmt::format("a tensor of {} {}", dtype_name(dtype), to_text(dims)); });
  // Aligned by hand: calloc gives large zeroed blocks as untouched pages, which aligned_alloc and memset would not.
  const size_t padded = static_cast<size_t>(bytes) + kAlignment;
  void* storage = contents == Contents::zero ? std::calloc(padded, 1) : std::malloc(padded);
  if (storage == nullptr)
    throw UserError("no memory for a tensor of {} {} ({} bytes)", dtype_name(dtype), to_text(dims), bytes);
  result.owner_ = std::shared_ptr<const void>(storage, [](const void* p) { std::free(const_cast<void*>(p)); });
  const auto address = reinterpret_cast<uintptr_t>(storage);
  result.data_ = reinterpret_cast<std::byte*>((address + kAlignment - 1) / kAlignment * kAlignment);
  result.dtype_ = dtype;
  result.dims_ = std::move(dims);
  result.writable_ = true;
  return result;
}

Tensor Tensor::borrow(DType dtype, Dims dims, const std::byte* data, std::shared_ptr<const void> owner,
                      const FileMap* file) {
  Tensor result;
  required_bytes(dtype, dims, &result.count_);
  result.dtype_ = dtype;
  result.dims_ = std::move(dims);
  result.data_ = const_cast<std::byte*>(data);  // writable_ stays false
  result.owner_ = std::move(owner);
  result.file_ = file;
  return result;
}

Tensor Tensor::borrow_unaligned(DType dtype, Dims dims, std::span<const std::byte> data,
                                std::shared_ptr<const void> owner, const FileMap* file) {
  int64_t count = 0;
  if (required_bytes(dtype, dims, &count) != static_cast<int64_t>(data.size()))
    throw InternalError("{} bytes for a tensor of {} {}", data.size(), dtype_name(dtype), to_text(dims));
  return computed(dtype, std::move(dims), [data, owner = std::move(owner), file](std::byte* out) {
    // In pieces, so that source and copy are never both resident.
    constexpr size_t kPiece = size_t{4} << 20;
    for (size_t at = 0; at < data.size(); at += kPiece) {
      const auto piece = data.subspan(at, std::min(kPiece, data.size() - at));
      std::memcpy(out + at, piece.data(), piece.size());
      if (file != nullptr) file->release(piece);
    }
  });
}

Tensor Tensor::computed(DType dtype, Dims dims, std::function<void(std::byte*)> fill) {
  Tensor result = borrow(dtype, std::move(dims), nullptr, nullptr);
  result.lazy_ = std::make_shared<LazyBytes>(static_cast<size_t>(result.size_bytes()), std::move(fill));
  return result;
}

const std::byte* Tensor::lazy_bytes() const { return lazy_->get().get(); }

Tensor Tensor::held() const {
  if (!lazy_) return *this;
  auto copy = lazy_->get();
  Tensor result = borrow(dtype_, dims_, copy.get(), copy);
  return result;
}

void Tensor::release_pages() const {
  if (lazy_) lazy_->release();
  if (file_ != nullptr) file_->release({data_, static_cast<size_t>(size_bytes())});
}

Tensor Tensor::wrap(DType dtype, Dims dims, std::byte* data) {
  Tensor result = borrow(dtype, std::move(dims), data, nullptr);
  result.writable_ = true;
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
  std::memcpy(result.data_, bytes(), static_cast<size_t>(size_bytes()));
  return result;
}

void Tensor::type_mismatch(DType wanted) const {
  throw InternalError("a {} tensor is read as {}", dtype_name(dtype_), dtype_name(wanted));
}

}  // namespace attune
