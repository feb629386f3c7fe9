// Decoders of image files. Each takes a whole file and gives a u8 tensor (height, width, 3) in RGB order; each fails,
// naming the node, on bytes that are not a complete image of its format.
#pragma once

#include "ops/context.h"

#include <cstdint>
#include <span>

namespace attune {

using ImageBytes = std::span<const uint8_t>;

Tensor decode_bmp(const OpContext& context, ImageBytes bytes);
Tensor decode_pnm(const OpContext& context, ImageBytes bytes);
Tensor decode_tiff(const OpContext& context, ImageBytes bytes);
// These refuse, naming the package, when the build has no library for them.
Tensor decode_jpeg(const OpContext& context, ImageBytes bytes);
Tensor decode_png(const OpContext& context, ImageBytes bytes);
Tensor decode_webp(const OpContext& context, ImageBytes bytes);
Tensor decode_jpeg2000(const OpContext& context, ImageBytes bytes);

/// A tensor for an image; fails when a side is below 1 or above 65535.
Tensor allocate_image(const OpContext& context, int64_t height, int64_t width);

}  // namespace attune
