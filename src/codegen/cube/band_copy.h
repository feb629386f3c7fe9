// Bands: the input rows that some output rows of a convolution meet, copied with the padding around them.
#pragma once

#include "codegen/cube/band.h"
#include "codegen/cube/text.h"

namespace attune::cube {

/// Rows of the band of so many output rows, and pixels and elements of a row: all that the output's pixels meet.
int64_t band_height(const BandShape& shape, int64_t band_rows);
int64_t band_width(const BandShape& shape);
int64_t band_row(const BandShape& shape);

/// Defines `copy(const Arguments& g, long image, long first, long end)`, which brings the input rows of output rows
/// [first, end) of an image from `g.src` to `g.band`, and sets `slack` elements behind them to zero.
void write_band_copy(Text& text, const BandShape& shape, int64_t slack);

}  // namespace attune::cube
