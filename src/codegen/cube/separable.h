// A depthwise convolution and a 1x1 convolution that reads it, a band of rows after the other: what lies between them
// is as large as a band and never leaves the cache of the core that made it.
#pragma once

#include "codegen/cube/depthwise.h"
#include "codegen/cube/product.h"

#include <vector>

namespace attune::cube {

/// An input of the second convolution's epilogue, its bias included.
struct BandOperand {
  int input = -1;     // position among the kernel's inputs; -1: there is none
  bool full = false;  // an element for each of the result
  DType dtype = DType::f32;
};

struct SeparableShape {
  DepthwiseShape depthwise;
  int depthwise_bias = -1;       // position of its bias among the kernel's inputs; -1: there is none
  ProductShape band, last_band;  // the 1x1 convolution as a product over the pixels of a band; the last may be smaller
  std::vector<BandOperand> operands;  // by their position among the product's inputs, from 2 on
};

struct SeparableSchedule {
  DepthwiseSchedule depthwise;  // a task is a band, with all of its channels
  VectorSchedule pointwise;     // of one task
};

/// A kernel with the entry `name(…)`, a task for each band; prepared[0] holds the filters of the first convolution as
/// depthwise_text has them, prepared[1] the weights of the second as vector_product_text has them.
std::string separable_text(const std::string& name, const SeparableShape& shape, const SeparableSchedule& schedule,
                           const Epilogue& first, const Epilogue& second);

/// Bytes that a task keeps on the stack.
int64_t separable_band_bytes(const DepthwiseShape& shape, int64_t band_rows);

}  // namespace attune::cube
