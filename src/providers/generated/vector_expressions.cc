#include "providers/generated/vector_expressions.h"

#include "codegen/isa.h"
#include "codegen/text.h"
#include "ops/context.h"

#include <algorithm>

namespace attune::generated {
namespace {

using codegen::float_literal;
using codegen::VectorExpression;

/// Attributes as text of the expression.
class Numbers {
 public:
  explicit Numbers(const Workload& workload) : node_(workload.node()), context_(node_) {}
  std::string get(const char* name, float fallback) const { return float_literal(context_.attr_float(name, fallback)); }
  float number(const char* name, float fallback) const { return context_.attr_float(name, fallback); }
  int64_t integer(const char* name, int64_t fallback) const { return context_.attr_int(name, fallback); }
  std::string text(const char* name, std::string_view fallback) const { return context_.attr_string(name, fallback); }

 private:
  Node node_;
  OpContext context_;
};

/// Functions of x0 alone whose text needs no attribute: {domain, operator, text, functions}.
struct PlainFunction {
  std::string_view domain, op, text;
  std::vector<std::string_view> functions;
};
// vmax(a, b) and vmin(a, b) are b where either is NaN, so what is bounded stands second.
const PlainFunction kPlain[] = {
    {"", "Relu", "x0 < 0.0f ? (vf)0.0f : x0", {}},
    {"", "Abs", "vabs(x0)", {"vabs"}},
    {"", "Neg", "-x0", {}},
    {"", "Exp", "vexp(x0)", {"vexp"}},
    {"", "Log", "vlog(x0)", {"vlog"}},
    {"", "Sqrt", "vsqrt(x0)", {"vsqrt"}},
    {"", "Reciprocal", "1.0f / x0", {}},
    {"", "Erf", "verf(x0)", {"verf"}},
    {"", "Tanh", "vtanh(x0)", {"vtanh"}},
    {"", "Sigmoid", "vsigmoid(x0)", {"vsigmoid"}},
    {"", "Softplus", "vsoftplus(x0)", {"vsoftplus"}},
    {"", "Softsign", "x0 / (1.0f + vabs(x0))", {"vabs"}},
    {"", "Mish", "vmish(x0)", {"vmish"}},
    {"", "HardSwish", "x0 * vmin(1.0f, vmax(0.0f, x0 * 0x1.555556p-3f + 0.5f))", {"vmin", "vmax"}},
    {"", "Floor", "vfloor(x0)", {"vfloor"}},
    {"", "Ceil", "vceil(x0)", {"vceil"}},
    {"", "Round", "vround(x0)", {"vround"}},
    {"", "Cast", "x0", {}},
    {"com.microsoft", "Gelu", "vgelu_erf(x0)", {"vgelu_erf"}},
};

/// Functions of two operands and of any number of them, folded from the left.
struct Fold {
  std::string_view op, text;  // of a and b
  std::vector<std::string_view> functions;
};
const Fold kFolds[] = {
    {"Add", "{a} + {b}", {}},
    {"Sub", "{a} - {b}", {}},
    {"Mul", "{a} * {b}", {}},
    {"Div", "{a} / {b}", {}},
    {"Sum", "{a} + {b}", {}},
    {"Mean", "{a} + {b}", {}},
    {"Max", "{b} == {b} ? vmax({b}, {a}) : {b}", {"vmax"}},  // a NaN on either side wins
    {"Min", "{b} == {b} ? vmin({b}, {a}) : {b}", {"vmin"}},
    {"PRelu", "{a} < 0.0f ? {b} * {a} : {a}", {}},
};

VectorExpression expression(std::string result, std::initializer_list<const char*> functions = {}) {
  VectorExpression out;
  out.result = std::move(result);
  for (const char* name : functions) out.functions.emplace(name);
  return out;
}

std::vector<int> given_inputs(const Workload& workload) {
  std::vector<int> inputs;
  for (size_t i = 0; i < workload.inputs.size(); ++i)
    if (workload.inputs[i]) inputs.push_back(static_cast<int>(i));
  return inputs;
}

ElementwiseOp fold(const Workload& workload, const Fold& what) {
  ElementwiseOp op{given_inputs(workload), Alignment::right, {}};
  std::string value = "x0";
  for (size_t i = 1; i < op.inputs.size(); ++i) {
    const std::string next = fmt::format("t{}", i);
    op.expression.statements.push_back(fmt::format(
        "const vf {} = {};", next, codegen::fill_in(what.text, {{"a", value}, {"b", fmt::format("x{}", i)}})));
    value = next;
  }
  if (what.op == "Mean") value += fmt::format(" / {}", float_literal(static_cast<float>(op.inputs.size())));
  op.expression.result = value;
  for (const std::string_view name : what.functions) op.expression.functions.emplace(name);
  return op;
}

/// Functions of x0 with attributes; nothing for other operators.
std::optional<VectorExpression> with_attributes(const Workload& workload) {
  const Numbers n(workload);
  const std::string& op = workload.op;
  if (op == "LeakyRelu") return expression(fmt::format("x0 < 0.0f ? {} * x0 : x0", n.get("alpha", 0.01f)));
  if (op == "Elu") return expression(fmt::format("x0 < 0.0f ? {} * vexpm1(x0) : x0", n.get("alpha", 1)), {"vexpm1"});
  if (op == "Celu") {
    const std::string alpha = n.get("alpha", 1);
    return expression(fmt::format("vmax(x0, 0.0f) + vmin({} * vexpm1(x0 / {}), 0.0f)", alpha, alpha),
                      {"vexpm1", "vmax", "vmin"});
  }
  if (op == "Selu")
    return expression(fmt::format("{} * (x0 > 0.0f ? x0 : {} * vexpm1(x0))", n.get("gamma", 1.05070102214813232421875f),
                                  n.get("alpha", 1.67326319217681884765625f)),
                      {"vexpm1"});
  if (op == "Gelu")
    return n.text("approximate", "none") == "tanh" ? expression("vgelu_tanh(x0)", {"vgelu_tanh"})
                                                   : expression("vgelu_erf(x0)", {"vgelu_erf"});
  if (op == "HardSigmoid")
    return expression(fmt::format("vmin(1.0f, vmax(0.0f, {} * x0 + {}))", n.get("alpha", 0.2f), n.get("beta", 0.5f)),
                      {"vmin", "vmax"});
  if (op == "Swish") return expression(fmt::format("x0 * vsigmoid({} * x0)", n.get("alpha", 1)), {"vsigmoid"});
  if (op == "ThresholdedRelu") return expression(fmt::format("x0 > {} ? x0 : (vf)0.0f", n.get("alpha", 1)));
  return std::nullopt;
}

ElementwiseOp clip(const Workload& workload) {
  ElementwiseOp op{given_inputs(workload), Alignment::right, {}};
  const bool by_inputs = workload.version >= 11;
  std::string low, high;
  if (by_inputs) {
    for (size_t i = 1; i < op.inputs.size(); ++i) (op.inputs[i] == 1 ? low : high) = fmt::format("x{}", i);
  } else {
    const Numbers n(workload);
    low = n.get("min", -3.402823466e+38f);
    high = n.get("max", 3.402823466e+38f);
  }
  op.expression = expression("x0", {"vmin", "vmax"});
  if (!low.empty()) op.expression.result = fmt::format("vmax({}, {})", low, op.expression.result);
  if (!high.empty()) op.expression.result = fmt::format("vmin({}, {})", high, op.expression.result);
  return op;
}

/// BiasGelu, FastGelu and QuickGelu of com.microsoft: a bias that may be missing, then an activation.
std::optional<ElementwiseOp> biased_gelu(const Workload& workload) {
  ElementwiseOp op{given_inputs(workload), Alignment::right, {}};
  if (workload.op == "BiasGelu")
    op.expression = expression("vgelu_erf(t)", {"vgelu_erf"});
  else if (workload.op == "FastGelu")
    op.expression = expression("vgelu_tanh(t)", {"vgelu_tanh"});
  else if (workload.op == "QuickGelu")
    op.expression =
        expression(fmt::format("t * vsigmoid({} * t)", Numbers(workload).get("alpha", 1.702f)), {"vsigmoid"});
  else
    return std::nullopt;
  op.expression.statements.emplace_back(op.inputs.size() > 1 ? "const vf t = x0 + x1;" : "const vf t = x0;");
  return op;
}

std::variant<ElementwiseOp, Refusal> batch_norm(const Workload& workload) {
  const Numbers n(workload);
  if (n.integer("training_mode", 0) != 0 ||
      std::ranges::count_if(workload.outputs, [](const auto& output) { return output.has_value(); }) != 1)
    return refuse("batch normalisation of the batch's own statistics is no elementwise operator");
  ElementwiseOp op{{0, 1, 2, 3, 4}, Alignment::channels_after_first, {}};
  op.expression = expression("(x0 - x3) * factor + x2", {"vsqrt"});
  op.expression.statements.push_back(fmt::format("const vf factor = x1 / vsqrt(x4 + {});", n.get("epsilon", 1e-5f)));
  return op;
}

bool needs_rounding(const std::string& op) { return op == "Floor" || op == "Ceil" || op == "Round"; }

}  // namespace

std::variant<ElementwiseOp, Refusal> find_expression(const Workload& workload) {
  const auto unary = [](VectorExpression what) { return ElementwiseOp{{0}, Alignment::right, std::move(what)}; };
  if (needs_rounding(workload.op) && usable_isa() < Isa::avx2) return refuse("rounding to integers needs AVX2");
  if (workload.domain == "com.microsoft")
    if (auto op = biased_gelu(workload)) return *op;
  for (const PlainFunction& function : kPlain)
    if (workload.domain == function.domain && workload.op == function.op) {
      VectorExpression what = expression(std::string(function.text));
      for (const std::string_view name : function.functions) what.functions.emplace(name);
      return unary(std::move(what));
    }
  if (!workload.domain.empty())
    return refuse("there is no vector kernel for operator '{}::{}'", workload.domain, workload.op);
  for (const Fold& function : kFolds)
    if (workload.op == function.op) return fold(workload, function);
  if (workload.op == "Clip") return clip(workload);
  if (workload.op == "BatchNormalization") return batch_norm(workload);
  if (auto what = with_attributes(workload)) return unary(std::move(*what));
  return refuse("there is no vector kernel for operator '{}'", workload.op);
}

}  // namespace attune::generated
