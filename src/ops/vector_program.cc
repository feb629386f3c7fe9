#include "ops/vector_program.h"

#include "base/error.h"

#include <algorithm>
#include <charconv>

namespace attune {
namespace {

using Operand = VectorOperand;

struct StepInfo {
  std::string_view name;
  size_t least, most;  // operands
  std::vector<std::string> attributes;
  bool rows = false;
};

constexpr size_t kAnyNumber = 8;

const StepInfo kSteps[] = {
    {"Add", 2, 2, {}},
    {"Sub", 2, 2, {}},
    {"Mul", 2, 2, {}},
    {"Div", 2, 2, {}},
    {"Pow", 2, 2, {}},
    {"Sum", 1, kAnyNumber, {}},
    {"Max", 1, kAnyNumber, {}},
    {"Min", 1, kAnyNumber, {}},
    {"PRelu", 2, 2, {}},
    {"Where", 3, 3, {}},
    {"Clip", 3, 3, {}},
    {"Relu", 1, 1, {}},
    {"LeakyRelu", 1, 1, {"alpha"}},
    {"Elu", 1, 1, {"alpha"}},
    {"Celu", 1, 1, {"alpha"}},
    {"Selu", 1, 1, {"alpha", "gamma"}},
    {"ThresholdedRelu", 1, 1, {"alpha"}},
    {"Sigmoid", 1, 1, {}},
    {"HardSigmoid", 1, 1, {"alpha", "beta"}},
    {"Tanh", 1, 1, {}},
    {"Erf", 1, 1, {}},
    {"Gelu", 1, 1, {}},
    {"GeluTanh", 1, 1, {}},
    {"Swish", 1, 1, {"alpha"}},
    {"HardSwish", 1, 1, {}},
    {"Mish", 1, 1, {}},
    {"Softplus", 1, 1, {}},
    {"Softsign", 1, 1, {}},
    {"Exp", 1, 1, {}},
    {"Log", 1, 1, {}},
    {"Sqrt", 1, 1, {}},
    {"Reciprocal", 1, 1, {}},
    {"Neg", 1, 1, {}},
    {"Abs", 1, 1, {}},
    {"Floor", 1, 1, {}},
    {"Ceil", 1, 1, {}},
    {"Round", 1, 1, {}},
    {"ToF32", 1, 1, {}},
    {"ToBf16", 1, 1, {}},
    {"Softmax", 1, 1, {}, true},
    {"LogSoftmax", 1, 1, {}, true},
    {"LayerNormalization", 2, 3, {"epsilon"}, true},
    {"RMSNormalization", 2, 2, {"epsilon"}, true},
};

const StepInfo* find_info(std::string_view name) {
  const auto* found = std::ranges::find(kSteps, name, &StepInfo::name);
  return found == std::end(kSteps) ? nullptr : found;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

template <class T> std::optional<T> number(std::string_view word) {
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::optional<Operand> parse_operand(std::string_view word) {
  if (word.starts_with('x') || word.starts_with('t')) {
    const auto index = number<int>(word.substr(1));
    if (!index || *index < 0) return std::nullopt;
    return Operand{word[0] == 'x' ? Operand::Kind::input : Operand::Kind::step, *index, 0};
  }
  const auto value = number<float>(word);
  if (!value) return std::nullopt;
  return Operand{Operand::Kind::number, 0, *value};
}

VectorStep parse_step(const std::string& text, size_t position) {
  const auto fail = [&](std::string_view why) { throw UserError("step '{}' of a vector program {}", text, why); };
  const auto words = words_of(text);
  const StepInfo* info = words.empty() ? nullptr : find_info(words[0]);
  if (info == nullptr) fail("names no operator that such programs have");
  VectorStep step{words[0], {}, {}};
  for (size_t i = 1; i < words.size(); ++i) {
    if (const size_t equals = words[i].find('='); equals != std::string::npos) {
      const std::string name = words[i].substr(0, equals);
      const auto value = number<float>(std::string_view(words[i]).substr(equals + 1));
      if (!value || std::ranges::find(info->attributes, name) == info->attributes.end())
        fail("has an attribute that its operator does not have");
      step.numbers[name] = *value;
      continue;
    }
    const auto operand = parse_operand(words[i]);
    if (!operand) fail("has an operand that is neither x0, t0 nor a number");
    if (operand->kind == Operand::Kind::step && static_cast<size_t>(operand->index) >= position)
      fail("reads a step that does not come before it");
    step.operands.push_back(*operand);
  }
  if (step.operands.size() < info->least || step.operands.size() > info->most)
    fail("has another number of operands than its operator");
  if (std::ranges::all_of(step.operands, &Operand::is_number)) fail("reads numbers alone");
  return step;
}

const std::vector<std::string>& strings_of(const Attributes& attributes, const char* name) {
  const auto found = attributes.find(name);
  const auto* texts = found == attributes.end() ? nullptr : std::get_if<std::vector<std::string>>(&found->second);
  if (texts == nullptr) throw UserError("a vector program needs the attribute '{}', a list of strings", name);
  return *texts;
}

}  // namespace

std::string to_text(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::input: return fmt::format("x{}", operand.index);
    case Operand::Kind::step: return fmt::format("t{}", operand.index);
    case Operand::Kind::number: break;
  }
  return fmt::format("{}", operand.number);
}

bool VectorStep::looks_at_rows() const {
  const StepInfo* info = find_info(op);
  return info != nullptr && info->rows;
}

std::string to_text(const VectorStep& step) {
  std::string out = step.op;
  for (const Operand& operand : step.operands) out += " " + to_text(operand);
  for (const auto& [name, value] : step.numbers) out += fmt::format(" {}={}", name, value);
  return out;
}

int VectorProgram::row_step() const {
  const auto found = std::ranges::find_if(steps, &VectorStep::looks_at_rows);
  return found == steps.end() ? -1 : static_cast<int>(found - steps.begin());
}

std::vector<DType> VectorProgram::types(const std::vector<DType>& inputs) const {
  std::vector<DType> types;
  for (const VectorStep& step : steps) {
    DType type = step.op == "ToF32" ? DType::f32 : step.op == "ToBf16" ? DType::bf16 : DType::undefined;
    for (size_t i = step.op == "Where" ? 1 : 0; i < step.operands.size() && type == DType::undefined; ++i) {
      const Operand& operand = step.operands[i];
      if (operand.is_number()) continue;
      type = (operand.kind == Operand::Kind::input ? inputs : types).at(static_cast<size_t>(operand.index));
    }
    types.push_back(type);
  }
  return types;
}

VectorProgram parse_vector_program(const Attributes& attributes) {
  VectorProgram program;
  for (const std::string& text : strings_of(attributes, "steps"))
    program.steps.push_back(parse_step(text, program.steps.size()));
  if (program.steps.empty()) throw UserError("a vector program has at least one step");
  if (std::ranges::count_if(program.steps, &VectorStep::looks_at_rows) > 1)
    throw UserError("a vector program looks at rows once at most");
  program.results = {static_cast<int>(program.steps.size()) - 1};
  const auto found = attributes.find("results");
  if (found == attributes.end()) return program;
  const auto* results = std::get_if<std::vector<int64_t>>(&found->second);
  if (results == nullptr || results->empty())
    throw UserError("attribute 'results' of a vector program is no list of numbers of steps");
  program.results.clear();
  for (const int64_t result : *results) {
    if (result < 0 || result >= static_cast<int64_t>(program.steps.size()))
      throw UserError("there is no step {} in a vector program of {}", result, program.steps.size());
    program.results.push_back(static_cast<int>(result));
  }
  return program;
}

Attributes vector_program_attributes(const VectorProgram& program) {
  std::vector<std::string> texts;
  for (const VectorStep& step : program.steps) texts.push_back(to_text(step));
  Attributes attributes{{"steps", texts}};
  if (program.results != std::vector<int>{static_cast<int>(program.steps.size()) - 1})
    attributes["results"] = std::vector<int64_t>(program.results.begin(), program.results.end());
  return attributes;
}

bool has_vector_step(std::string_view op, size_t operands) {
  const StepInfo* info = find_info(op);
  return info != nullptr && operands >= info->least && operands <= info->most;
}

std::vector<std::string> vector_step_attributes(std::string_view op) {
  const StepInfo* info = find_info(op);
  return info == nullptr ? std::vector<std::string>{} : info->attributes;
}

Node vector_step_node(const VectorStep& step) {
  constexpr int kOpset = 24;  // the first that has all of these
  Node node;
  node.name = "step";
  node.op = step.op;
  node.version = kOpset;
  for (const auto& [name, value] : step.numbers) node.attributes[name] = value;
  for (size_t i = 0; i < step.operands.size(); ++i) node.inputs.push_back(static_cast<ValueId>(i));
  node.outputs = {0};
  if (step.op == "GeluTanh") {
    node.op = "Gelu";
    node.attributes["approximate"] = std::string("tanh");
  }
  if (step.is_cast()) {
    constexpr int64_t kFloat = 1, kBfloat16 = 16;  // ONNX's numbers of them
    node.op = "Cast";
    node.attributes["to"] = step.op == "ToF32" ? kFloat : kBfloat16;
  }
  return node;
}

}  // namespace attune
