#include "codegen/cube/epilogue_text.h"

#include "base/error.h"
#include "codegen/cube/functions.h"
#include "codegen/cube/text.h"

#include <algorithm>
#include <set>

namespace attune::cube {
namespace {

using Kind = EpilogueStep::Kind;

/// A float that reads back as the same number.
std::string literal(float value) {
  if (value != value) return "__builtin_nanf(\"\")";
  if (value > 3.4028234e38f) return "__builtin_inff()";
  if (value < -3.4028234e38f) return "-__builtin_inff()";
  return fmt::format("{:a}f", value);
}

std::string_view function_of(Kind kind) {
  switch (kind) {
    case Kind::exp: return "exp";
    case Kind::elu:
    case Kind::mish:
    case Kind::softplus: return "bounded_exp";
    case Kind::sigmoid:
    case Kind::swish: return "sigmoid";
    case Kind::tanh: return "tanh";
    case Kind::gelu_tanh: return "gelu_tanh";
    case Kind::gelu_erf: return "gelu_erf";
    default: return "";
  }
}

std::string operand_value(const Epilogue& epilogue, int input) {
  switch (epilogue.operand(input).reach) {
    case Reach::full: return fmt::format("load<N>(with.in{} + at)", input);
    case Reach::row: return fmt::format("load<N>(with.in{} + column)", input);
    case Reach::one: break;
  }
  return epilogue.operand(input).dtype == DType::bf16 ? fmt::format("splat(widened(*with.in{}))", input)
                                                      : fmt::format("splat(*with.in{})", input);
}

void write_step(Text& text, const Epilogue& epilogue, const EpilogueStep& step) {
  const std::string a = literal(step.alpha), b = literal(step.beta);
  switch (step.kind) {
    case Kind::add: text.line("x = x + {};", operand_value(epilogue, step.input)); return;
    case Kind::mul: text.line("x = x * {};", operand_value(epilogue, step.input)); return;
    case Kind::relu: text.line("x = x < 0.f ? (vf){{}} : x;"); return;
    case Kind::leaky_relu: text.line("x = x < 0.f ? x * {} : x;", a); return;
    case Kind::elu: text.line("x = x < 0.f ? {} * (bounded_exp(x) - 1.f) : x;", a); return;
    case Kind::sigmoid: text.line("x = sigmoid_of(x);"); return;
    case Kind::tanh: text.line("x = tanh_of(x);"); return;
    case Kind::gelu_erf: text.line("x = gelu_erf_of(x);"); return;
    case Kind::gelu_tanh: text.line("x = gelu_tanh_of(x);"); return;
    case Kind::swish: text.line("x = x * sigmoid_of(x * {});", a); return;
    case Kind::hard_sigmoid:
      text.line("x = x * {} + {};", a, b);
      text.line("x = x < 0.f ? (vf){{}} : (x > 1.f ? splat(1.f) : x);");
      return;
    case Kind::hard_swish:
      text.open("");
      text.line("const vf gate = x * (1 / 6.f) + 0.5f;");
      text.line("x = x * (gate < 0.f ? (vf){{}} : (gate > 1.f ? splat(1.f) : gate));");
      text.close();
      return;
    case Kind::mish:  // x tanh(log(1 + e)) as a quotient; beyond 20 it is x
      text.open("");
      text.line("const vf e = bounded_exp(x < 20.f ? x : splat(20.f)), n = e * e + 2.f * e;");
      text.line("x = x < 20.f ? x * n / (n + 2.f) : x;");
      text.close();
      return;
    case Kind::clip: text.line("x = x < {0} ? splat({0}) : (x > {1} ? splat({1}) : x);", a, b); return;
    case Kind::softplus: text.line("x = log1p_of(bounded_exp(x < 0.f ? x : -x)) + (x < 0.f ? (vf){{}} : x);"); return;
    case Kind::sqrt: text.line("x = __builtin_elementwise_sqrt(x);"); return;
    case Kind::exp: text.line("x = exp_of(x);"); return;
    case Kind::abs: text.line("x = x < 0.f ? -x : x;"); return;
  }
  throw InternalError("an epilogue step without text");
}

}  // namespace

const Operand& Epilogue::operand(int input) const {
  for (const Operand& one : operands)
    if (one.input == input) return one;
  throw InternalError("input {} is no operand of the epilogue", input);
}

bool has_functions(const std::vector<EpilogueStep>& steps) {
  return std::ranges::any_of(steps, [](const auto& step) { return !function_of(step.kind).empty(); });
}

std::string epilogue_text(const Epilogue& epilogue, const VectorIsa& isa, DType dst) {
  std::set<std::string_view> functions;
  for (const EpilogueStep& step : epilogue.steps) {
    functions.insert(function_of(step.kind));
    if (step.kind == Kind::softplus) functions.insert("log1p");
  }
  Text text;
  text.paste(function_definitions(functions, isa, dst == DType::bf16 ? Accuracy::bf16 : Accuracy::f32));
  text.blank();
  bool widens = false;
  for (const Operand& one : epilogue.operands) widens |= one.reach == Reach::one && one.dtype == DType::bf16;
  if (widens) text.line("INLINE float widened(bf16 x) {{ return __builtin_bit_cast(float, (unsigned)x << 16); }}");
  text.open("struct Operands");
  for (const Operand& one : epilogue.operands) text.line("const {}* in{};", element_name(one.dtype), one.input);
  text.close(";");
  text.open("INLINE Operands operands_of([[maybe_unused]] const void* const* inputs)");
  std::string list;
  for (const Operand& one : epilogue.operands)
    list += fmt::format("{}(const {}*)inputs[{}]", list.empty() ? "" : ", ", element_name(one.dtype), one.input);
  text.line("return {{{}}};", list);
  text.close();
  text.open(
      "template <int N> INLINE vf finish(vf x, [[maybe_unused]] const Operands& with, [[maybe_unused]] long at, "
      "[[maybe_unused]] long column)");
  if (epilogue.scale != 1) text.line("x = x * {};", literal(epilogue.scale));
  for (const EpilogueStep& step : epilogue.steps) write_step(text, epilogue, step);
  text.line("return x;");
  text.close();
  return text.take();
}

}  // namespace attune::cube
