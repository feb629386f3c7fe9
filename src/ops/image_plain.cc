// BMP and PNM: formats that are read by hand.
#include "ops/image_format.h"

#include <algorithm>
#include <limits>

namespace attune {
namespace {

/// Little-endian reads that fail at the end of the file.
class Reader {
 public:
  Reader(const OpContext& context, ImageBytes bytes) : context_(context), bytes_(bytes) {}
  uint32_t u8(size_t at) const {
    if (at >= bytes_.size()) context_.fail("the image ends after {} bytes", bytes_.size());
    return bytes_[at];
  }
  uint32_t u16(size_t at) const { return u8(at) | u8(at + 1) << 8; }
  uint32_t u32(size_t at) const { return u16(at) | u16(at + 2) << 16; }
  int32_t i32(size_t at) const { return static_cast<int32_t>(u32(at)); }

 private:
  const OpContext& context_;
  ImageBytes bytes_;
};

/// The numbers of a PNM header and of its text variants: white space between them, comments from # to the line's end.
class PnmReader {
 public:
  PnmReader(const OpContext& context, ImageBytes bytes) : context_(context), bytes_(bytes) {}

  int64_t number() {
    skip_space();
    int64_t value = 0;
    size_t digits = 0;
    for (; at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9'; ++at_, ++digits)
      value = std::min<int64_t>(value * 10 + (bytes_[at_] - '0'), std::numeric_limits<int32_t>::max());
    if (digits == 0) context_.fail("a PNM image has no number at byte {}", at_);
    return value;
  }
  int64_t bit() {
    skip_space();
    return byte() == '1' ? 1 : 0;
  }
  int64_t byte() {
    if (at_ >= bytes_.size()) context_.fail("the image ends after {} bytes", bytes_.size());
    return bytes_[at_++];
  }

 private:
  void skip_space() {
    for (; at_ < bytes_.size(); ++at_) {
      if (bytes_[at_] == '#')
        while (at_ < bytes_.size() && bytes_[at_] != '\n') ++at_;
      else if (bytes_[at_] > ' ')
        return;
      if (at_ >= bytes_.size()) return;
    }
  }
  const OpContext& context_;
  ImageBytes bytes_;
  size_t at_ = 2;
};

}  // namespace

Tensor decode_bmp(const OpContext& context, ImageBytes bytes) {
  const Reader reader(context, bytes);
  const uint32_t pixels = reader.u32(10), header = reader.u32(14);
  if (header < 40 || header > 1024) context.fail("a BMP image with a header of {} bytes is not supported", header);
  const int64_t width = reader.i32(18), signed_height = reader.i32(22);
  const uint32_t depth = reader.u16(28), compression = reader.u32(30);
  if ((depth != 8 && depth != 24 && depth != 32) || (compression != 0 && !(compression == 3 && depth == 32)))
    context.fail("a BMP image of {} bits with compression {} is not supported", depth, compression);
  const int64_t height = signed_height < 0 ? -signed_height : signed_height;
  Tensor image = allocate_image(context, height, width);
  const auto row_bytes = static_cast<size_t>((width * depth + 31) / 32 * 4);
  reader.u8(pixels + row_bytes * static_cast<size_t>(height - 1) + static_cast<size_t>(width * depth / 8) - 1);
  uint8_t* out = image.mutable_data<uint8_t>();
  for (int64_t y = 0; y < height; ++y) {
    const int64_t row = signed_height < 0 ? y : height - 1 - y;  // bottom-up unless the height is negative
    for (int64_t x = 0; x < width; ++x, out += 3) {
      size_t at = pixels + static_cast<size_t>(row) * row_bytes + static_cast<size_t>(x * depth / 8);
      if (depth == 8) at = 14 + header + 4 * static_cast<size_t>(reader.u8(at));  // palette of BGR0
      for (size_t c = 0; c < 3; ++c) out[c] = static_cast<uint8_t>(reader.u8(at + 2 - c));
    }
  }
  return image;
}

Tensor decode_pnm(const OpContext& context, ImageBytes bytes) {
  const char kind = static_cast<char>(bytes[1]);  // 1 to 3 are text, 4 to 6 binary: bits, gray, colour
  PnmReader reader(context, bytes);
  const int64_t width = reader.number(), height = reader.number();
  const bool bits = kind == '1' || kind == '4', colour = kind == '3' || kind == '6', text = kind <= '3';
  const int64_t most = bits ? 1 : reader.number();
  if (most < 1 || most > 65535) context.fail("a PNM image has the largest value {}", most);
  if (!text) reader.byte();  // one white space before the data
  Tensor image = allocate_image(context, height, width);
  uint8_t* out = image.mutable_data<uint8_t>();
  for (int64_t y = 0; y < height; ++y) {
    int64_t packed = 0;
    for (int64_t x = 0; x < width; ++x, out += 3) {
      if (bits) {
        if (!text && x % 8 == 0) packed = reader.byte();
        const bool black = text ? reader.bit() != 0 : (packed >> (7 - x % 8) & 1) != 0;
        std::fill_n(out, 3, static_cast<uint8_t>(black ? 0 : 255));
        continue;
      }
      for (int c = 0; c < (colour ? 3 : 1); ++c) {
        int64_t value = text ? reader.number() : reader.byte();
        if (!text && most > 255) value = value << 8 | reader.byte();
        out[c] = static_cast<uint8_t>((std::min(value, most) * 255 + most / 2) / most);
      }
      if (!colour) out[1] = out[2] = out[0];
    }
  }
  return image;
}

}  // namespace attune
