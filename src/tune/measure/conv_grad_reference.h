// The gradients of convolution by plain loops, sums in double. The registry has no operator for them: models do not
// contain them.
#pragma once

#include "kernel/workload.h"

namespace attune::tune {

bool is_conv_grad(const Workload& workload);
/// Of attune::ConvGradData and attune::ConvGradWeights with written outputs, in one to three spatial dims.
std::vector<Tensor> conv_grad_reference(const Workload& workload, const std::vector<Tensor>& inputs);

}  // namespace attune::tune
