#include "ops/epilogue.h"

#include <array>
#include <charconv>

namespace attune {
namespace {

using Kind = EpilogueStep::Kind;

struct KindInfo {
  Kind kind;
  std::string_view name;
  int numbers;  // that follow the name
};

constexpr std::array<KindInfo, 18> kKinds{{
    {Kind::add, "add", 0},
    {Kind::mul, "mul", 0},
    {Kind::relu, "relu", 0},
    {Kind::leaky_relu, "leaky_relu", 1},
    {Kind::elu, "elu", 1},
    {Kind::sigmoid, "sigmoid", 0},
    {Kind::tanh, "tanh", 0},
    {Kind::gelu_erf, "gelu_erf", 0},
    {Kind::gelu_tanh, "gelu_tanh", 0},
    {Kind::swish, "swish", 1},
    {Kind::hard_sigmoid, "hard_sigmoid", 2},
    {Kind::hard_swish, "hard_swish", 0},
    {Kind::mish, "mish", 0},
    {Kind::clip, "clip", 2},
    {Kind::softplus, "softplus", 0},
    {Kind::exp, "exp", 0},
    {Kind::sqrt, "sqrt", 0},
    {Kind::abs, "abs", 0},
}};

const KindInfo& info(Kind kind) {
  for (const KindInfo& entry : kKinds)
    if (entry.kind == kind) return entry;
  throw InternalError("an epilogue step of unknown kind");
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

template <class T> T number(const std::string& word, const std::string& step) {
  T value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) throw UserError("'{}' is not an epilogue step", step);
  return value;
}

EpilogueStep parse_step(const std::string& text) {
  const auto words = words_of(text);
  for (const KindInfo& entry : kKinds) {
    if (words.empty() || entry.name != words[0]) continue;
    EpilogueStep step;
    step.kind = entry.kind;
    const size_t expected = step.is_binary() ? 1 : static_cast<size_t>(entry.numbers);
    if (words.size() != expected + 1) break;
    if (step.is_binary())
      step.input = number<int>(words[1], text);
    else if (entry.numbers > 0)
      step.alpha = number<float>(words[1], text);
    if (entry.numbers > 1) step.beta = number<float>(words[2], text);
    return step;
  }
  throw UserError("'{}' is not an epilogue step", text);
}

}  // namespace

std::string_view epilogue_kind_name(Kind kind) { return info(kind).name; }

std::string to_text(const EpilogueStep& step) {
  std::string out(info(step.kind).name);
  if (step.is_binary()) return fmt::format("{} {}", out, step.input);
  if (info(step.kind).numbers > 0) out += fmt::format(" {}", step.alpha);
  if (info(step.kind).numbers > 1) out += fmt::format(" {}", step.beta);
  return out;
}

std::vector<EpilogueStep> parse_epilogue(const Attributes& attributes) {
  std::vector<EpilogueStep> steps;
  const auto found = attributes.find("epilogue");
  if (found == attributes.end()) return steps;
  const auto* texts = std::get_if<std::vector<std::string>>(&found->second);
  if (texts == nullptr)
    throw UserError("attribute 'epilogue' is of kind {}, expected strings", attribute_kind(found->second));
  for (const std::string& text : *texts) steps.push_back(parse_step(text));
  return steps;
}

Attribute epilogue_attribute(const std::vector<EpilogueStep>& steps) {
  std::vector<std::string> texts;
  for (const EpilogueStep& step : steps) texts.push_back(to_text(step));
  return texts;
}

Node epilogue_node(const EpilogueStep& step) {
  constexpr int kOpset = 24;  // the first that has all of these
  Node node;
  node.name = "epilogue";
  node.version = kOpset;
  node.inputs = {0};
  node.outputs = {0};
  const auto with = [&](const char* op, Attributes attributes = {}) {
    node.op = op;
    node.attributes = std::move(attributes);
  };
  switch (step.kind) {
    case Kind::add: with("Add"); break;
    case Kind::mul: with("Mul"); break;
    case Kind::relu: with("Relu"); break;
    case Kind::leaky_relu: with("LeakyRelu", {{"alpha", step.alpha}}); break;
    case Kind::elu: with("Elu", {{"alpha", step.alpha}}); break;
    case Kind::sigmoid: with("Sigmoid"); break;
    case Kind::tanh: with("Tanh"); break;
    case Kind::gelu_erf: with("Gelu", {{"approximate", std::string("none")}}); break;
    case Kind::gelu_tanh: with("Gelu", {{"approximate", std::string("tanh")}}); break;
    case Kind::swish: with("Swish", {{"alpha", step.alpha}}); break;
    case Kind::hard_sigmoid: with("HardSigmoid", {{"alpha", step.alpha}, {"beta", step.beta}}); break;
    case Kind::hard_swish: with("HardSwish"); break;
    case Kind::mish: with("Mish"); break;
    case Kind::clip:
      with("Clip", {{"min", step.alpha}, {"max", step.beta}});
      node.version = 7;  // bounds as attributes
      break;
    case Kind::softplus: with("Softplus"); break;
    case Kind::exp: with("Exp"); break;
    case Kind::sqrt: with("Sqrt"); break;
    case Kind::abs: with("Abs"); break;
  }
  if (step.is_binary()) node.inputs.push_back(1);
  return node;
}

}  // namespace attune
