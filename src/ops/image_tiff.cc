// TIFF without compression: 8-bit gray or RGB in strips, either byte order.
#include "ops/image_format.h"

#include <algorithm>
#include <map>

namespace attune {
namespace {

constexpr uint32_t kWidth = 256, kHeight = 257, kBits = 258, kCompression = 259, kPhotometric = 262,
                   kStripOffsets = 273, kChannels = 277, kRowsPerStrip = 278, kPlanar = 284;

class TiffReader {
 public:
  TiffReader(const OpContext& context, ImageBytes bytes)
      : context_(context), bytes_(bytes), big_endian_(bytes[0] == 'M') {
    const uint64_t directory = read(4, 4);
    const uint64_t entries = read(directory, 2);
    for (uint64_t i = 0; i < entries; ++i) {
      const uint64_t at = directory + 2 + 12 * i;
      entries_[static_cast<uint32_t>(read(at, 2))] = at;
    }
  }

  uint64_t read(uint64_t at, uint64_t size) const {
    if (at + size > bytes_.size()) context_.fail("the image ends after {} bytes", bytes_.size());
    uint64_t value = 0;
    for (uint64_t i = 0; i < size; ++i) value = value << 8 | bytes_[at + (big_endian_ ? i : size - 1 - i)];
    return value;
  }
  uint64_t count(uint32_t tag) const {
    const auto found = entries_.find(tag);
    return found == entries_.end() ? 0 : read(found->second + 4, 4);
  }
  /// Value i of a tag of shorts or longs.
  uint64_t value(uint32_t tag, uint64_t i, uint64_t fallback) const {
    const auto found = entries_.find(tag);
    if (found == entries_.end()) return fallback;
    const uint64_t type = read(found->second + 2, 2), values = read(found->second + 4, 4);
    const uint64_t size = type == 3 ? 2 : type == 4 ? 4 : type == 1 ? 1 : 0;
    if (size == 0 || i >= values) context_.fail("tag {} of a TIFF image is malformed", tag);
    // Up to four bytes lie in the entry itself.
    const uint64_t at = values * size <= 4 ? found->second + 8 : read(found->second + 8, 4);
    return read(at + i * size, size);
  }

 private:
  const OpContext& context_;
  ImageBytes bytes_;
  bool big_endian_;
  std::map<uint32_t, uint64_t> entries_;  // tag → position of its entry
};

}  // namespace

Tensor decode_tiff(const OpContext& context, ImageBytes bytes) {
  const TiffReader reader(context, bytes);
  const auto width = static_cast<int64_t>(reader.value(kWidth, 0, 0));
  const auto height = static_cast<int64_t>(reader.value(kHeight, 0, 0));
  const uint64_t channels = reader.value(kChannels, 0, 1), photometric = reader.value(kPhotometric, 0, 1);
  const bool rgb = photometric == 2 && (channels == 3 || channels == 4), gray = photometric <= 1 && channels == 1;
  if (reader.value(kCompression, 0, 1) != 1 || reader.value(kPlanar, 0, 1) != 1 || reader.value(kBits, 0, 1) != 8 ||
      !(rgb || gray))
    context.unsupported("a TIFF image that is not uncompressed 8-bit gray or RGB");
  Tensor image = allocate_image(context, height, width);
  uint8_t* out = image.mutable_data<uint8_t>();
  const auto rows_per_strip = static_cast<int64_t>(std::max<uint64_t>(1, reader.value(kRowsPerStrip, 0, 1u << 31)));
  for (int64_t y = 0; y < height; ++y) {
    const auto strip = static_cast<uint64_t>(y / rows_per_strip), row = static_cast<uint64_t>(y % rows_per_strip);
    if (strip >= reader.count(kStripOffsets)) context.fail("a TIFF image lacks strip {}", strip);
    const uint64_t begin = reader.value(kStripOffsets, strip, 0) + row * static_cast<uint64_t>(width) * channels;
    reader.read(begin + static_cast<uint64_t>(width) * channels - 1, 1);
    const uint8_t* from = bytes.data() + begin;
    for (int64_t x = 0; x < width; ++x, out += 3, from += channels)
      for (int c = 0; c < 3; ++c)
        out[c] = rgb ? from[c] : photometric == 0 ? static_cast<uint8_t>(255 - from[0]) : from[0];
  }
  return image;
}

}  // namespace attune
