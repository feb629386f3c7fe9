#include "providers/reference/layout_copy.h"

#include "base/parallel.h"

#include <cstring>

namespace attune {
namespace {

/// Where element (n, c, pixel) lies, with all spatial dims taken as one.
struct Addressing {
  int64_t channels = 1, pixels = 1;
  int64_t block = 1;  // channels in a block; 1: none
  bool channels_last = false;

  explicit Addressing(const TensorSpec& spec) {
    channels = spec.dims.size() > 1 ? spec.dims[1] : 1;
    for (size_t i = 2; i < spec.dims.size(); ++i) pixels *= spec.dims[i];
    channels_last = spec.layout == Layout::nhwc;
    block = spec.layout == Layout::nchw8c ? 8 : spec.layout == Layout::nchw16c ? 16 : 1;
  }
  int64_t padded_channels() const { return (channels + block - 1) / block * block; }
  int64_t offset(int64_t n, int64_t c, int64_t pixel) const {
    if (channels_last) return (n * pixels + pixel) * channels + c;
    return ((n * (padded_channels() / block) + c / block) * pixels + pixel) * block + c % block;
  }
};

template <class T> void copy_elements(const TensorSpec& source, const T* src, const TensorSpec& target, T* dst) {
  const Addressing from(source), to(target);
  const int64_t images = source.dims.empty() ? 1 : source.dims[0];
  const int64_t rows = to.padded_channels();
  parallel_for(images * rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, from.pixels)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   const int64_t n = row / rows, c = row % rows;
                   for (int64_t pixel = 0; pixel < from.pixels; ++pixel)
                     dst[to.offset(n, c, pixel)] = c < from.channels ? src[from.offset(n, c, pixel)] : T(0);
                 }
               });
}

}  // namespace

void copy_layout(const TensorSpec& source, const std::byte* src, const TensorSpec& target, std::byte* dst) {
  if (source.layout == target.layout) {
    std::memcpy(dst, src, static_cast<size_t>(storage_bytes(source).value_or(0)));
    return;
  }
  const auto copy = [&]<class T>(T) {
    copy_elements(source, reinterpret_cast<const T*>(src), target, reinterpret_cast<T*>(dst));
  };
  switch (bit_width(source.dtype)) {
    case 8: copy(uint8_t{}); break;
    case 16: copy(uint16_t{}); break;
    case 32: copy(uint32_t{}); break;
    case 64: copy(uint64_t{}); break;
    default: throw InternalError("no layout conversion for {}", dtype_name(source.dtype));
  }
}

}  // namespace attune
