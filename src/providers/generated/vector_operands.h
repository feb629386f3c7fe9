// Operands of a workload as the vector generators walk them: loops over the dims of the output with the strides that
// layouts and broadcasting give.
#pragma once

#include "codegen/vector/loop_nest.h"
#include "codegen/vector/vector_text.h"
#include "kernel/provider.h"

namespace attune::generated {

/// Nothing for dtypes that vectors of floats are not made of.
std::optional<codegen::Element> element_of(DType dtype);

/// An operand and its dims as they line up with those of the output: 1 where it is repeated.
struct AlignedOperand {
  TensorSpec spec;
  Dims aligned;
};

/// ONNX broadcasting: dims line up from the right.
AlignedOperand align_right(const TensorSpec& spec, size_t rank);
/// A vector of one value for each channel, dim 1.
AlignedOperand align_channels(const TensorSpec& spec, size_t rank);

/// Loops over the dims of `output` with the strides of `operands`, then of the output. Refuses layouts whose blocks the
/// channels do not fill, and operands in blocks of different sizes.
std::variant<codegen::LoopNest, Refusal> make_nest(const std::vector<AlignedOperand>& operands,
                                                   const TensorSpec& output);

/// Elements of the output from which on stores past the cache are the default: what is written then would push out of
/// the caches more than the next reader finds there.
bool exceeds_caches(int64_t bytes);

}  // namespace attune::generated
