#include "providers/generated/vector_chain_text.h"

#include "codegen/text.h"
#include "providers/generated/vector_expressions.h"
#include "providers/generated/vector_operands.h"

#include <algorithm>

namespace attune::generated {
namespace {

using codegen::Element;
using codegen::float_literal;
using codegen::VectorExpression;
using Operand = VectorOperand;

/// Powers as std::pow has them, whatever the sign of a zero or infinity; nothing for exponents without such a text.
std::optional<VectorExpression> power(float exponent) {
  const auto text = [](const char* result, std::set<std::string> functions = {}) {
    VectorExpression out;
    out.result = result;
    out.functions = std::move(functions);
    return out;
  };
  if (exponent == 1.0f) return text("x0");
  if (exponent == 2.0f) return text("x0 * x0");
  if (exponent == 3.0f) return text("x0 * x0 * x0");
  if (exponent == 4.0f) return text("(x0 * x0) * (x0 * x0)");
  if (exponent == -1.0f) return text("1.0f / x0");
  if (exponent == -2.0f) return text("1.0f / (x0 * x0)");
  if (exponent == 0.5f) return text("x0 == -__builtin_inff() ? -x0 : vsqrt(x0 + 0.0f)", {"vsqrt"});
  if (exponent == -0.5f) return text("x0 == -__builtin_inff() ? (vf)0.0f : 1.0f / vsqrt(x0 + 0.0f)", {"vsqrt"});
  return std::nullopt;
}

/// The step as an operator of its own on f32, whose text the elementwise kernels have.
std::variant<VectorExpression, Refusal> step_text(const VectorStep& step) {
  if (step.op == "Where") {
    VectorExpression out;
    out.result = "x0 != 0.0f ? x1 : x2";
    return out;
  }
  if (step.op == "Pow") {
    if (auto found = step.operands[1].is_number() ? power(step.operands[1].number) : std::nullopt) return *found;
    return refuse("there is no vector text for step '{}'", to_text(step));
  }
  const Node node = vector_step_node(step);
  Workload workload;
  workload.op = node.op;
  workload.version = node.version;
  workload.attributes = node.attributes;
  workload.inputs.assign(step.operands.size(), TensorSpec{DType::f32, {}, Layout::plain, false});
  auto found = find_expression(workload);
  if (auto* refusal = std::get_if<Refusal>(&found)) return std::move(*refusal);
  return std::get<ElementwiseOp>(std::move(found)).expression;
}

std::string operand_text(const Operand& operand) {
  return operand.is_number() ? float_literal(operand.number) : to_text(operand);
}

std::string definition(size_t position, const VectorStep& step, const VectorExpression& expression) {
  std::string parameters;
  for (size_t k = 0; k < step.operands.size(); ++k) parameters += fmt::format("{}vf x{}", k ? ", " : "", k);
  std::string out = fmt::format("/// {}\nstatic inline vf step{}({}) {{\n", to_text(step), position, parameters);
  for (const std::string& statement : expression.statements) out += "  " + statement + "\n";
  return out + fmt::format("  return {};\n}}\n\n", expression.result);
}

/// A rounding that no other step sees is done by the store.
bool is_only_stored(const VectorProgram& program, size_t step) {
  return std::ranges::none_of(program.steps, [&](const VectorStep& reader) {
    return std::ranges::any_of(reader.operands, [&](const Operand& operand) {
      return operand.kind == Operand::Kind::step && operand.index == static_cast<int>(step);
    });
  });
}

std::optional<Refusal> check_types(const Workload& workload) {
  for (size_t i = 0; i < workload.inputs.size(); ++i) {
    if (!workload.inputs[i]) return refuse("input {} is missing", i);
    const DType dtype = workload.input(i).dtype;
    if (!element_of(dtype) && dtype != DType::boolean)
      return refuse("vector kernels compute on f32 and bf16, got {}", to_text(workload.input(i)));
  }
  for (const auto& output : workload.outputs) {
    if (!output) return refuse("every result of a chain is written");
    if (!element_of(output->dtype)) return refuse("vector kernels compute f32 and bf16, got {}", to_text(*output));
    if (output->dims != workload.output(0).dims || output->layout != workload.output(0).layout)
      return refuse("the results of a chain lie in one way");
  }
  if (element_count(workload.output(0).dims) == 0) return refuse("there is nothing to compute in an empty tensor");
  return std::nullopt;
}

}  // namespace

bool is_chain(const Workload& workload) { return workload.domain == "attune" && workload.op == "FusedVector"; }

std::variant<ChainText, Refusal> write_chain(const Workload& workload) {
  if (!is_chain(workload)) return refuse("operator '{}' is no chain of vector operators", workload.op);
  if (auto refusal = check_types(workload)) return *refusal;
  ChainText out;
  out.program = parse_vector_program(workload.attributes);
  const auto& steps = out.program.steps;
  out.needs.resize(steps.size());
  out.inputs.resize(steps.size());
  out.statements.resize(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    std::string arguments;
    for (const Operand& operand : steps[i].operands) {
      arguments += (arguments.empty() ? "" : ", ") + operand_text(operand);
      if (operand.kind == Operand::Kind::step) out.needs[i].push_back(operand.index);
      if (operand.kind == Operand::Kind::input) out.inputs[i].insert(operand.index);
    }
    if (steps[i].looks_at_rows()) continue;
    if (steps[i].is_cast()) {
      const bool rounds = steps[i].op == "ToBf16" && !is_only_stored(out.program, i);
      out.rounds_to_bf16 |= rounds;
      out.statements[i] = fmt::format(
          fmt::runtime(rounds ? "const vf t{} = from_bf16(to_bf16({}));" : "const vf t{} = {};"), i, arguments);
      continue;
    }
    const auto text = step_text(steps[i]);
    if (const auto* refusal = std::get_if<Refusal>(&text)) return *refusal;
    const auto& expression = std::get<VectorExpression>(text);
    out.definitions += definition(i, steps[i], expression);
    out.functions.insert(expression.functions.begin(), expression.functions.end());
    out.statements[i] = fmt::format("const vf t{} = step{}({});", i, i, arguments);
  }
  return out;
}

std::vector<codegen::MapInput> chain_inputs(const Workload& workload) {
  std::vector<codegen::MapInput> inputs;
  for (size_t i = 0; i < workload.inputs.size(); ++i)
    inputs.push_back({element_of(workload.input(i).dtype).value_or(Element::boolean), static_cast<int>(i)});
  return inputs;
}

}  // namespace attune::generated
