#include "rewrite/as_activation.h"

#include "ops/node_traits.h"
#include "rewrite/uses.h"

#include <limits>

namespace attune::rewrite {

std::optional<EpilogueStep> as_activation(const Graph& graph, const Node& node) {
  using Kind = EpilogueStep::Kind;
  if (!node.domain.empty() || node.inputs.empty()) return std::nullopt;
  const std::string& op = node.op;
  if (op == "Relu") return EpilogueStep{Kind::relu};
  if (op == "LeakyRelu")
    return EpilogueStep{Kind::leaky_relu, -1, attribute_or<float>(node.attributes, "alpha", 0.01f), 0};
  if (op == "Elu") return EpilogueStep{Kind::elu, -1, attribute_or<float>(node.attributes, "alpha", 1.0f), 0};
  if (op == "Sigmoid") return EpilogueStep{Kind::sigmoid};
  if (op == "Tanh") return EpilogueStep{Kind::tanh};
  if (op == "Swish") return EpilogueStep{Kind::swish, -1, attribute_or<float>(node.attributes, "alpha", 1.0f), 0};
  if (op == "HardSwish") return EpilogueStep{Kind::hard_swish};
  if (op == "HardSigmoid")
    return EpilogueStep{Kind::hard_sigmoid, -1, attribute_or<float>(node.attributes, "alpha", 0.2f),
                        attribute_or<float>(node.attributes, "beta", 0.5f)};
  if (op == "Mish") return EpilogueStep{Kind::mish};
  if (op == "Gelu") {
    const auto found = node.attributes.find("approximate");
    const auto* way = found == node.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
    return EpilogueStep{way && *way == "tanh" ? Kind::gelu_tanh : Kind::gelu_erf};
  }
  if (op == "Clip") {
    EpilogueStep step{Kind::clip, -1, std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max()};
    step.alpha = attribute_or<float>(node.attributes, "min", step.alpha);
    step.beta = attribute_or<float>(node.attributes, "max", step.beta);
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      const auto bound = scalar_input(graph, node, i);
      if (!bound) return std::nullopt;
      (i == 1 ? step.alpha : step.beta) = static_cast<float>(*bound);
    }
    return step;
  }
  return std::nullopt;
}

}  // namespace attune::rewrite
