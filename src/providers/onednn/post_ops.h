// Epilogues as oneDNN post-ops.
#pragma once

#include "kernel/workload.h"
#include "ops/epilogue.h"
#include "providers/onednn/primitive_kernel.h"

namespace attune::onednn {

/// One elementwise function of oneDNN.
struct Eltwise {
  dnnl::algorithm algorithm = dnnl::algorithm::undef;
  float alpha = 0, beta = 0;
};
/// An activation step as oneDNN's functions, applied in order. Not for add and mul.
std::vector<Eltwise> eltwise_of(const EpilogueStep& step);

/// How an addition of an operand as large as the result is done: read beside the result, or by adding to a destination
/// that starts as the operand, which more implementations can do.
enum class Residual { binary, sum };

/// Attributes that hold an epilogue, and the arguments of its binary steps.
struct PostOps {
  dnnl::primitive_attr attributes;
  std::vector<Argument> arguments;
  bool operands_vary_beyond_channels = false;  // some operand differs between images or between pixels
  int summed_input = -1;                       // the operand that the destination has to start as; -1: none
};

/// The epilogue of a fused workload, applied to its output 0. Operands of binary steps are described with the rank of
/// `result`, which is the destination as the primitive sees it. Residual::sum takes the first addition that can be done
/// so, if there is one. Throws UnsupportedError for what post-ops cannot do.
PostOps make_post_ops(const Workload& workload, const TensorSpec& result, Residual residual = Residual::binary);

}  // namespace attune::onednn
