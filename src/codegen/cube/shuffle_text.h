// How results of a product take turns with the channels of another map, as text.
#pragma once

#include "codegen/cube/product.h"
#include "codegen/cube/text.h"

namespace attune::cube {

/// `place_both<N>(g, row, at, column, x)`: stores the first N lanes of x, results from `column` of `row` on, and as
/// many elements from position `at` of the other map on. Reads `dst`, `beside` and `rest` of the Arguments.
void write_shuffle(Text& text, const ProductShape& shape, int lanes);

/// What the Arguments end with: `beside` and `rest`.
std::string shuffle_arguments(const ProductShape& shape);

}  // namespace attune::cube
