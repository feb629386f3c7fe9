#include "tune/measure/guarded_buffer.h"

#include <cstring>

namespace attune::tune {
namespace {

constexpr int64_t kGuardBytes = 256;
constexpr int kGuard = 0xFB;

/// Calls visit(plain offset, offset in the layout) for every element, -1 as the first for padding channels. Written
/// apart from the product's own layout conversion, which it has to judge.
template <class Visit> void for_each_element(const TensorSpec& spec, Visit&& visit) {
  const int64_t images = spec.dims.empty() ? 1 : spec.dims[0];
  const int64_t channels = spec.dims.size() > 1 ? spec.dims[1] : 1;
  int64_t pixels = 1;
  for (size_t i = 2; i < spec.dims.size(); ++i) pixels *= spec.dims[i];
  const int64_t block = spec.layout == Layout::nchw8c ? 8 : spec.layout == Layout::nchw16c ? 16 : 1;
  const int64_t blocks = (channels + block - 1) / block;
  for (int64_t n = 0; n < images; ++n)
    for (int64_t c = 0; c < blocks * block; ++c)
      for (int64_t p = 0; p < pixels; ++p) {
        const int64_t plain = c < channels ? (n * channels + c) * pixels + p : -1;
        const int64_t there = spec.layout == Layout::nhwc ? (n * pixels + p) * channels + c
                                                          : ((n * blocks + c / block) * pixels + p) * block + c % block;
        visit(plain, there);
      }
}

}  // namespace

GuardedBuffer::GuardedBuffer(const TensorSpec& spec) : GuardedBuffer(storage_bytes(spec).value()) { spec_ = spec; }

GuardedBuffer::GuardedBuffer(int64_t bytes)
    : bytes_(bytes), storage_(Tensor::allocate(DType::u8, {bytes + 2 * kGuardBytes})) {
  std::memset(storage_.mutable_bytes(), kGuard, static_cast<size_t>(storage_.count()));
}

std::byte* GuardedBuffer::data() { return storage_.mutable_bytes() + kGuardBytes; }
const std::byte* GuardedBuffer::data() const { return storage_.bytes() + kGuardBytes; }

void GuardedBuffer::poison(int byte) { std::memset(data(), byte, static_cast<size_t>(bytes_)); }

void GuardedBuffer::fill(const Tensor& plain) {
  if (spec_.layout == Layout::plain) {
    std::memcpy(data(), plain.bytes(), static_cast<size_t>(bytes_));
    return;
  }
  const int64_t size = bit_width(spec_.dtype) / 8;
  for_each_element(spec_, [&](int64_t from, int64_t to) {
    if (from < 0)
      std::memset(data() + to * size, 0, static_cast<size_t>(size));
    else
      std::memcpy(data() + to * size, plain.bytes() + from * size, static_cast<size_t>(size));
  });
}

Tensor GuardedBuffer::plain() const {
  Tensor result = Tensor::allocate(spec_.dtype, spec_.dims);
  if (spec_.layout == Layout::plain) {
    std::memcpy(result.mutable_bytes(), data(), static_cast<size_t>(bytes_));
    return result;
  }
  const int64_t size = bit_width(spec_.dtype) / 8;
  for_each_element(spec_, [&](int64_t to, int64_t from) {
    if (to >= 0) std::memcpy(result.mutable_bytes() + to * size, data() + from * size, static_cast<size_t>(size));
  });
  return result;
}

bool GuardedBuffer::guards_are_whole() const {
  for (int64_t i = 0; i < kGuardBytes; ++i)
    if (storage_.bytes()[i] != std::byte{kGuard} || data()[bytes_ + i] != std::byte{kGuard}) return false;
  return true;
}

bool GuardedBuffer::same_bytes(const GuardedBuffer& other) const {
  return bytes_ == other.bytes_ && std::memcmp(data(), other.data(), static_cast<size_t>(bytes_)) == 0;
}

bool GuardedBuffer::padding_is_zero() const {
  if (spec_.layout != Layout::nchw8c && spec_.layout != Layout::nchw16c) return true;
  const int64_t size = bit_width(spec_.dtype) / 8;
  bool zero = true;
  for_each_element(spec_, [&](int64_t plain, int64_t at) {
    if (plain >= 0) return;
    for (int64_t i = 0; i < size; ++i) zero &= data()[at * size + i] == std::byte{0};
  });
  return zero;
}

}  // namespace attune::tune
