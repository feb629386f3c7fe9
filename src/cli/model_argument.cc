#include "cli/model_argument.h"

#include "base/suggest.h"
#include "zoo/address.h"

#include <charconv>
#include <set>

namespace attune::cli {
namespace {

int64_t parse_count(std::string_view text, std::string_view where) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    throw UserError("'{}' in '{}' is not a non-negative number", text, where);
  return number;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end = text.find(separator); end != std::string::npos; begin = end + 1, end = text.find(separator, begin))
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

std::string suggestion(const std::string& word, const std::set<std::string>& known) {
  const std::vector<std::string_view> choices(known.begin(), known.end());
  const auto close = nearest(word, choices);
  if (close) return fmt::format("; did you mean '{}'?", *close);
  std::string all;
  for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? "" : "; there are: " + all;
}

}  // namespace

Model load_model(const std::string& argument) {
  if (!zoo::is_address(argument)) return load_onnx(argument);
  Model model;
  model.graph = zoo::build_address(argument);
  model.producer = "attune zoo";
  return model;
}

ShapeArguments parse_shapes(const std::string& text) {
  ShapeArguments result;
  if (text.empty()) return result;
  for (const std::string& part : split(text, ',')) {
    const size_t colon = part.rfind(':');  // names may contain colons themselves, as TensorFlow's do
    const size_t equals = part.find('=');
    if (colon == std::string::npos && equals != std::string::npos) {
      result.symbols[part.substr(0, equals)] = parse_count(part.substr(equals + 1), part);
      continue;
    }
    if (colon == std::string::npos || colon == 0)
      throw UserError("'{}' in --shapes is not of the form name:1x3x224x224 or symbol=8", part);
    Dims dims;
    const std::string numbers = part.substr(colon + 1);
    if (!numbers.empty() && numbers != "scalar")
      for (const std::string& number : split(numbers, 'x')) dims.push_back(parse_count(number, part));
    if (!result.shapes.emplace(part.substr(0, colon), std::move(dims)).second)
      throw UserError("--shapes gives input '{}' twice", part.substr(0, colon));
  }
  return result;
}

std::map<std::string, Dims> input_shapes(const Graph& graph, const ShapeArguments& arguments) {
  std::map<std::string, Dims> result;
  std::set<std::string> names, symbols;
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.value(id);
    names.insert(input.name);
    const auto given = arguments.shapes.find(input.name);
    if (given != arguments.shapes.end()) {
      const Shape stated = to_shape(given->second);
      bool fits = !input.shape || input.shape->size() == stated.size();
      for (size_t i = 0; fits && input.shape && i < stated.size(); ++i)
        fits = !(*input.shape)[i].is_known() || (*input.shape)[i] == stated[i];
      if (!fits)
        throw UserError("--shapes gives input '{}' as {}, but the model takes {}", input.name, to_text(given->second),
                        to_text(input.shape));
      result[input.name] = given->second;
      continue;
    }
    if (!input.shape) continue;
    Dims dims;
    for (const Dim& dim : *input.shape) {
      if (dim.is_symbolic()) symbols.insert(dim.text());
      const auto number = arguments.symbols.find(dim.text());
      if (dim.is_known())
        dims.push_back(dim.value());
      else if (number != arguments.symbols.end())
        dims.push_back(number->second);
    }
    if (dims.size() == input.shape->size()) result[input.name] = std::move(dims);
  }
  for (const auto& [name, dims] : arguments.shapes)
    if (!names.count(name))
      throw UserError("--shapes names '{}', which is no input of the model{}", name, suggestion(name, names));
  for (const auto& [name, number] : arguments.symbols)
    if (!symbols.count(name))
      throw UserError("--shapes sets '{}', which is no symbolic dim of the model's inputs{}", name,
                      suggestion(name, symbols));
  return result;
}

}  // namespace attune::cli
