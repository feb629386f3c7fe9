// What a fused operator does to each result before it is stored: a list of steps such as "add 3", "relu", "clip 0 6".
#pragma once

#include "graph/graph.h"

#include <string>
#include <vector>

namespace attune {

/// A step is an elementwise function with up to two numbers, or a binary function with another input of the node that
/// broadcasts to the result.
struct EpilogueStep {
  enum class Kind {
    add,
    mul,  // with an input
    relu,
    leaky_relu,
    elu,
    sigmoid,
    tanh,
    gelu_erf,
    gelu_tanh,
    swish,
    hard_sigmoid,
    hard_swish,
    mish,
    clip,
    softplus,
    exp,
    sqrt,
    abs,
  };
  Kind kind = Kind::relu;
  int input = -1;             // of add and mul: position among the node's inputs
  float alpha = 0, beta = 0;  // leaky_relu, elu: alpha; swish: alpha; hard_sigmoid: alpha, beta; clip: low, high

  bool is_binary() const { return kind == Kind::add || kind == Kind::mul; }
};

std::string to_text(const EpilogueStep& step);
std::string_view epilogue_kind_name(EpilogueStep::Kind kind);

/// The steps in a node's `epilogue` attribute (strings); empty when there is none. Throws UserError naming the node for
/// text that is not a step.
std::vector<EpilogueStep> parse_epilogue(const Attributes& attributes);
/// The attribute for a list of steps.
Attribute epilogue_attribute(const std::vector<EpilogueStep>& steps);

/// The ONNX node that computes one step, for reference kernels: input 0 is the result so far, input 1 the operand of a
/// binary step.
Node epilogue_node(const EpilogueStep& step);

}  // namespace attune
