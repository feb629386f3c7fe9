#include "codegen/cube/band_copy.h"

#include <algorithm>

namespace attune::cube {
namespace {

uint32_t mask(int64_t lanes) { return static_cast<uint32_t>((uint64_t{1} << lanes) - 1); }

/// Copies `count` pixels of bf16 from `at` to `to + first`, each with zeros behind its channels: as many at a time as a
/// vector holds, or a pixel in several vectors.
void write_spread(Text& text, const BandShape& shape, int64_t first, int64_t count) {
  const int64_t wide = shape.band_channels, narrow = shape.channels;
  const auto copy = [&](int64_t lanes_in, int64_t lanes_out, int64_t offset, const std::string& change) {
    text.line("v32s x = (v32s)__builtin_ia32_loaddquhi512_mask((const v32s*)(at + {}), (v32s){{}}, {:#x}u);", offset,
              mask(lanes_in));
    if (!change.empty()) text.line("x = __builtin_shufflevector(x, (v32s){{}}, {});", change);
    text.line("__builtin_ia32_storedquhi512_mask((v32s*)(to + {} + p * {} + {}), x, {:#x}u);", first, wide, offset,
              mask(lanes_out));
  };
  const auto pixels = [&](int64_t many) {
    std::string change;
    for (int64_t i = 0; i < 32; ++i)
      change +=
          fmt::format("{}{}", i ? ", " : "", i / wide < many && i % wide < narrow ? i / wide * narrow + i % wide : 32);
    copy(many * narrow, many * wide, 0, change);
  };
  const int64_t at_once = std::max<int64_t>(1, 32 / wide);
  text.line("long p = 0;");
  text.open("for (; p + {0} <= {1}; p += {0}, at += {2})", at_once, count, at_once * narrow);
  if (wide <= 32) pixels(at_once);
  for (int64_t offset = 0; wide > 32 && offset < wide; offset += 32) {
    text.open("");
    copy(std::clamp<int64_t>(narrow - offset, 0, 32), std::min<int64_t>(wide - offset, 32), offset, "");
    text.close();
  }
  text.close();
  if (count % at_once != 0) {
    text.open("");
    pixels(count % at_once);
    text.close();
  }
}

}  // namespace

int64_t band_height(const BandShape& shape, int64_t band_rows) {
  return (band_rows - 1) * shape.down.stride + (shape.down.kernel - 1) * shape.down.dilation + 1;
}

int64_t band_width(const BandShape& shape) {
  const DepthwiseAxis& axis = shape.across;
  return (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
}

int64_t band_row(const BandShape& shape) { return band_width(shape) * shape.band_channels; }

void write_band_copy(Text& text, const BandShape& shape, int64_t slack) {
  const DepthwiseAxis &down = shape.down, &across = shape.across;
  const int64_t left = across.pad, inside = std::min(across.in, band_width(shape) - left);
  const int64_t right = band_width(shape) - left - inside, c = shape.band_channels;
  const std::string_view type = element_name(shape.product.src);
  const int64_t bytes = bit_width(shape.product.src) / 8;
  if (shape.channels != c) text.line("typedef short v32s __attribute__((vector_size(64)));");
  text.open("static void copy(const Arguments& g, long image, long first, long end)");
  text.line("const long height = (end - first - 1) * {} + {};", down.stride, (down.kernel - 1) * down.dilation + 1);
  text.open("for (long y = 0; y < height; ++y)");
  text.line("{}* to = g.band + y * {};", type, band_row(shape));
  text.line("const long from = first * {} - {} + y;", down.stride, down.pad);
  text.open("if (from < 0 || from >= {})", down.in);
  text.line("__builtin_memset(to, 0, {});", band_row(shape) * bytes);
  text.line("continue;");
  text.close();
  if (left > 0) text.line("__builtin_memset(to, 0, {});", left * c * bytes);
  text.line("const {}* at = g.src + (image * {} + from) * {};", type, down.in, across.in * shape.channels);
  if (shape.channels == c)
    text.line("__builtin_memcpy(to + {}, at, {});", left * c, inside * c * bytes);
  else
    write_spread(text, shape, left * c, inside);
  if (right > 0) text.line("__builtin_memset(to + {}, 0, {});", (left + inside) * c, right * c * bytes);
  text.close();
  if (slack > 0) text.line("__builtin_memset(g.band + height * {}, 0, {});", band_row(shape), slack * bytes);
  text.close();
  text.blank();
}

}  // namespace attune::cube
