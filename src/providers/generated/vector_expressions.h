// What elementwise operators compute, as text over vectors.
#pragma once

#include "codegen/vector/map_kernel.h"
#include "kernel/provider.h"

namespace attune::generated {

/// How an operator's inputs line up with its output.
enum class Alignment { right, channels_after_first };

/// An operator that computes each element by itself. `inputs` are the positions of the inputs that the expression calls
/// x0, x1, …
struct ElementwiseOp {
  std::vector<int> inputs;
  Alignment alignment = Alignment::right;
  codegen::VectorExpression expression;
};

/// The expression of a workload's operator and attributes; a refusal for operators that are not elementwise or not
/// known here.
std::variant<ElementwiseOp, Refusal> find_expression(const Workload& workload);

}  // namespace attune::generated
