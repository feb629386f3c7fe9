// Packing of weights that change from run to run, as text: tasks bring them into the order that products read.
#pragma once

#include "codegen/cube/product.h"
#include "codegen/cube/text.h"

namespace attune::cube {

/// Steps of the depth that a vector of packed weights stands for: an element each in f32, two in bf16.
int64_t packed_steps(const ProductShape& shape);

/// Where an element of an operand lies in the product of number `group`: "group % 12 * 8192 + …".
std::string batch_offset(const ProductShape& shape, int64_t BatchAxis::*stride);

/// Defines `template <int columns> void pack_columns(const T* from, float* to, long width, long block)`: `lanes`
/// columns, of which the first `columns` are there, over the whole depth. Step s goes to `to + s / lanes * block + s %
/// lanes * width`; with `whole_blocks` the last block is filled up with zeros.
struct PackingOptions {
  int lanes = 16;
  bool whole_blocks = false;
};
void write_packing(Text& text, const ProductShape& shape, const PackingOptions& options);

}  // namespace attune::cube
