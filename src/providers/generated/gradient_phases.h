// Pixels of the data that lie at the same place between the strides of a convolution meet the same taps of its filter:
// such a phase of the gradient by data is a convolution of stride 1.
#pragma once

#include "providers/generated/cube_product.h"

#include <optional>
#include <variant>
#include <vector>

namespace attune::generated {

struct GradientPhase {
  std::optional<ProductProblem> product;  // nothing: no tap meets these pixels, and their gradient is zero
  std::vector<int32_t> dst_at;            // for each row of the product the element of the gradient where it begins
};

/// All phases, which write each pixel once; or why there are none.
std::variant<std::vector<GradientPhase>, Refusal> gradient_phases(const Workload& workload);

}  // namespace attune::generated
