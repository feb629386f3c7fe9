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

/// Attributes that hold an epilogue, and the arguments of its binary steps.
struct PostOps {
  dnnl::primitive_attr attributes;
  std::vector<Argument> arguments;
};

/// The epilogue of a fused workload, applied to its output 0. Operands of binary steps are described with the rank of
/// `result`, which is the destination as the primitive sees it. Throws UnsupportedError for what post-ops cannot do.
PostOps make_post_ops(const Workload& workload, const TensorSpec& result);

}  // namespace attune::onednn
