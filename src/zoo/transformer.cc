#include "zoo/transformer.h"

#include <numbers>

namespace attune::zoo {
namespace {

constexpr Init kWeight{.deviation = kTransformerDeviation};

}  // namespace

ValueId dense(GraphBuilder& b, std::string_view module, ValueId x, int64_t in, int64_t out) {
  const auto scope = b.scope(module);
  const ValueId product = b.matmul({x, b.parameter("weight", {in, out}, kWeight)});
  return b.add({b.parameter("bias", {out}, kWeight), product});
}

ValueId dense_2d(GraphBuilder& b, std::string_view module, ValueId x, int64_t in, int64_t out) {
  const auto scope = b.scope(module);
  return b.op("Gemm", {x, b.parameter("weight", {out, in}, kWeight), b.parameter("bias", {out}, kWeight)},
              {{"alpha", 1.0F}, {"beta", 1.0F}, {"transB", int64_t{1}}});
}

ValueId layer_norm(GraphBuilder& b, std::string_view module, ValueId x, int64_t width, float epsilon) {
  const auto scope = b.scope(module);
  const ValueId weight = b.parameter("weight", {width}, {.mean = 1, .deviation = kTransformerDeviation});
  const ValueId bias = b.parameter("bias", {width}, kWeight);
  return b.op("LayerNormalization", {x, weight, bias}, {{"axis", int64_t{-1}}, {"epsilon", epsilon}});
}

ValueId gelu_erf(GraphBuilder& b, ValueId x) {
  const ValueId scaled = b.op("Div", {x, b.number(std::numbers::sqrt2_v<float>)});
  const ValueId gate = b.add({b.op("Erf", {scaled}), b.number(1)});
  return b.mul({b.mul({x, gate}), b.number(0.5F)});
}

ValueId gelu_tanh(GraphBuilder& b, ValueId x) {
  constexpr float kSlope = 0.7978845608F;  // sqrt(2 / pi)
  const ValueId half = b.mul({x, b.number(0.5F)});
  const ValueId cubic = b.mul({b.op("Pow", {x, b.number(3)}), b.number(0.044715F)});
  const ValueId inner = b.mul({b.add({x, cubic}), b.number(kSlope)});
  return b.mul({half, b.add({b.op("Tanh", {inner}), b.number(1)})});
}

}  // namespace attune::zoo
