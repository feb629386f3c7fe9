#include "tune/measure/guarded_buffer.h"

#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace attune::tune {
namespace {

constexpr int64_t kGuardBytes = 256;
constexpr int kGuard = 0xFB;

/// The pixels of one channel: side by side in plain order, `step` elements apart in the layout.
struct Run {
  int64_t plain;  // offset of the first; -1 for padding channels
  int64_t there;
  int64_t step, count;
};

/// Calls visit(Run) for every channel, on all threads. Written apart from the product's own layout conversion, which it
/// has to judge.
template <class Visit> void for_each_run(const TensorSpec& spec, Visit&& visit) {
  const int64_t images = spec.dims.empty() ? 1 : spec.dims[0];
  const int64_t channels = spec.dims.size() > 1 ? spec.dims[1] : 1;
  int64_t pixels = 1;
  for (size_t i = 2; i < spec.dims.size(); ++i) pixels *= spec.dims[i];
  const int64_t block = spec.layout == Layout::nchw8c ? 8 : spec.layout == Layout::nchw16c ? 16 : 1;
  const int64_t blocks = (channels + block - 1) / block;
  constexpr int64_t kWorthAThread = 1 << 16;  // elements
  const int64_t grain = std::max<int64_t>(1, kWorthAThread / std::max<int64_t>(1, pixels));
  parallel_for(images * blocks * block, grain, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t n = at / (blocks * block), c = at % (blocks * block);
      const int64_t plain = c < channels ? (n * channels + c) * pixels : -1;
      if (spec.layout == Layout::nhwc)
        visit(Run{plain, n * pixels * channels + c, channels, pixels});
      else
        visit(Run{plain, (n * blocks + c / block) * pixels * block + c % block, block, pixels});
    }
  });
}

/// Calls visit with a value of the unsigned type that is as wide as the elements.
template <class Visit> void with_element(DType dtype, Visit&& visit) {
  switch (bit_width(dtype)) {
    case 8: return visit(uint8_t{});
    case 16: return visit(uint16_t{});
    case 32: return visit(uint32_t{});
    case 64: return visit(uint64_t{});
    default: throw InternalError("no layout holds elements of type {}", dtype_name(dtype));
  }
}

}  // namespace

GuardedBuffer::GuardedBuffer(const TensorSpec& spec) : GuardedBuffer(storage_bytes(spec).value()) { spec_ = spec; }

GuardedBuffer::GuardedBuffer(int64_t bytes)
    : bytes_(bytes), storage_(Tensor::lasting(DType::u8, {bytes + 2 * kGuardBytes})) {
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
  with_element(spec_.dtype, [&]<class T>(T zero) {
    T* to = reinterpret_cast<T*>(data());
    const T* from = reinterpret_cast<const T*>(plain.bytes());
    for_each_run(spec_, [&](const Run& run) {
      for (int64_t i = 0; i < run.count; ++i) to[run.there + i * run.step] = run.plain < 0 ? zero : from[run.plain + i];
    });
  });
}

void GuardedBuffer::copy(const GuardedBuffer& other) {
  std::memcpy(data(), other.data(), static_cast<size_t>(std::min(bytes_, other.bytes_)));
}

Tensor GuardedBuffer::plain() const {
  Tensor result = Tensor::allocate(spec_.dtype, spec_.dims);
  if (spec_.layout == Layout::plain) {
    std::memcpy(result.mutable_bytes(), data(), static_cast<size_t>(bytes_));
    return result;
  }
  with_element(spec_.dtype, [&]<class T>(T) {
    T* to = reinterpret_cast<T*>(result.mutable_bytes());
    const T* from = reinterpret_cast<const T*>(data());
    for_each_run(spec_, [&](const Run& run) {
      for (int64_t i = 0; i < run.count && run.plain >= 0; ++i) to[run.plain + i] = from[run.there + i * run.step];
    });
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
  std::atomic<bool> zero = true;
  with_element(spec_.dtype, [&]<class T>(T none) {
    const T* at = reinterpret_cast<const T*>(data());
    for_each_run(spec_, [&](const Run& run) {
      for (int64_t i = 0; i < run.count && run.plain < 0; ++i)
        if (at[run.there + i * run.step] != none) zero = false;
    });
  });
  return zero;
}

}  // namespace attune::tune
