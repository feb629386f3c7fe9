#include "kernel/parse_workload.h"

#include "graph/lexer.h"
#include "graph/text.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace attune {
namespace {

template <class T> T number(GraphLexer& lexer, std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    lexer.fail("'" + std::string(text) + "' is not a number");
  return value;
}

Dims parse_dims(GraphLexer& lexer) {
  lexer.expect("[");
  const std::string text = lexer.until("]");
  lexer.expect("]");
  Dims dims;
  if (text == "scalar") return dims;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('x', begin), text.size());
    dims.push_back(number<int64_t>(lexer, std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  return dims;
}

Layout parse_layout(GraphLexer& lexer) {
  if (!lexer.take("@")) return Layout::plain;
  const std::string word = lexer.word();
  for (const Layout layout : {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c})
    if (layout_name(layout) == word) return layout;
  lexer.fail("'" + word + "' is not a layout");
}

TensorSpec parse_spec(GraphLexer& lexer) {
  TensorSpec spec;
  const std::string word = lexer.word();
  const auto dtype = parse_dtype(word);
  if (!dtype) lexer.fail("'" + word + "' is not a dtype");
  spec.dtype = *dtype;
  spec.dims = parse_dims(lexer);
  spec.layout = parse_layout(lexer);
  spec.constant = lexer.take("*");
  spec.zero = spec.constant && lexer.take("0");
  return spec;
}

Contents parse_contents(GraphLexer& lexer, DType dtype) {
  Contents contents = Contents::usual(dtype);
  if (lexer.take("=")) {
    lexer.expect("[");
    while (!lexer.take("]")) {
      contents.values.push_back(number<double>(lexer, lexer.word()));
      lexer.take(",");
    }
  } else if (lexer.take_word("in")) {
    const std::string range = lexer.word();
    const size_t dots = range.find("..");
    if (dots == std::string::npos) lexer.fail("a range is written low..high, got '" + range + "'");
    contents.low = number<double>(lexer, std::string_view(range).substr(0, dots));
    contents.high = number<double>(lexer, std::string_view(range).substr(dots + 2));
  }
  return contents;
}

/// What planning finds out of a zero point's contents.
bool is_known_zero(const TensorSpec& spec, const Contents& contents) {
  const bool byte = spec.dtype == DType::u8 || spec.dtype == DType::i8;
  const bool zero = contents.values.empty()
                        ? contents.low == 0 && contents.high == 0
                        : std::all_of(contents.values.begin(), contents.values.end(), [](double v) { return v == 0; });
  return spec.constant && byte && spec.dims.size() <= 1 && zero;
}

OutputCase parse_output(GraphLexer& lexer) {
  if (lexer.take_word("_")) return {false, false, {}};
  if (!lexer.take("?")) return {true, true, parse_spec(lexer)};
  OutputCase output;
  output.spec.layout = parse_layout(lexer);
  return output;
}

// Attributes that ONNX has as floats, for texts in which a whole number does not tell.
constexpr std::string_view kFloatAttributes[] = {"alpha",
                                                 "beta",
                                                 "bias",
                                                 "clip",
                                                 "cubic_coeff_a",
                                                 "epsilon",
                                                 "extrapolation_value",
                                                 "fill",
                                                 "gamma",
                                                 "high",
                                                 "lambd",
                                                 "low",
                                                 "max",
                                                 "mean",
                                                 "min",
                                                 "momentum",
                                                 "norm_coefficient",
                                                 "ratio",
                                                 "scale",
                                                 "sample_scale",
                                                 "softcap",
                                                 "spatial_scale",
                                                 "value_float"};

bool is_float_attribute(std::string_view name) {
  return std::ranges::find(kFloatAttributes, name) != std::end(kFloatAttributes);
}

template <class T> std::optional<T> whole_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

template <class T> std::optional<std::vector<T>> numbers(const std::vector<std::string>& words) {
  std::vector<T> values;
  for (const std::string& word : words) {
    const auto value = whole_number<T>(word);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

/// The value of an attribute in the form of keys.
Attribute guess_attribute(std::string_view name, std::string_view text) {
  if (!text.starts_with('[')) {
    const auto integer = whole_number<int64_t>(text);
    if (integer && !is_float_attribute(name)) return *integer;
    if (const auto real = whole_number<float>(text)) return *real;
    return std::string(text);
  }
  text = text.substr(1, text.size() - 2);
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    words.emplace_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (const auto integers = numbers<int64_t>(words)) return *integers;
  if (const auto reals = numbers<float>(words)) return *reals;
  return words;
}

/// "pads=[1, 1], auto_pad=NOTSET", without kinds.
Attributes parse_key_attributes(std::string_view text) {
  Attributes attributes;
  for (size_t at = 0; at < text.size();) {
    const size_t equals = text.find('=', at);
    if (equals == std::string_view::npos) throw UserError("attribute '{}' has no '='", trimmed(text.substr(at)));
    const std::string_view name = trimmed(text.substr(at, equals - at));
    const size_t value = std::min(text.find_first_not_of(' ', equals + 1), text.size());
    const bool list = text.substr(value).starts_with('[');
    const size_t end = list ? text.find(']', value) + 1 : std::min(text.find(',', value), text.size());
    if (end == 0) throw UserError("the list of attribute '{}' has no ']'", name);
    attributes[std::string(name)] = guess_attribute(name, trimmed(text.substr(value, end - value)));
    at = std::min(text.find_first_not_of(", ", end), text.size());
  }
  return attributes;
}

/// Reads `{…}`: in the text form of graphs by its own parser, else in the form of keys.
Attributes parse_attributes(const std::string& text) {
  Attributes attributes;
  try {
    attributes = parse_graph("graph \"case\" { %y = Case@1() \"case\" " + text + " }").nodes().at(0).attributes;
  } catch (const UserError& in_graph_form) {
    try {
      return parse_key_attributes(std::string_view(text).substr(1, text.size() - 2));
    } catch (const UserError&) {
      throw in_graph_form;
    }
  }
  for (auto& [name, attribute] : attributes)
    if (const auto* integer = std::get_if<int64_t>(&attribute); integer && is_float_attribute(name))
      attribute = static_cast<float>(*integer);
  return attributes;
}

/// "{pads = ints [1, 1]}", cut out of the text of a graph; empty without attributes.
std::string attributes_in_graph_form(const Attributes& attributes) {
  if (attributes.empty()) return "";
  Graph graph;
  Node node;
  node.name = "case";
  node.op = "Case";
  node.version = 1;
  node.attributes = attributes;
  Value value;
  value.name = "y";
  node.outputs = {graph.add_value(std::move(value))};
  graph.add_node(std::move(node));
  const std::string text = to_text(graph);
  const size_t begin = text.find("\"case\" {") + 7, end = text.rfind('}', text.rfind('}') - 1);
  return text.substr(begin, end + 1 - begin);
}

}  // namespace

Contents Contents::usual(DType dtype) {
  Contents contents;
  if (dtype == DType::boolean)
    contents.low = 0;
  else if (is_integer(dtype) && bit_width(dtype) <= 8) {
    const int bits = bit_width(dtype);
    contents.low = is_signed(dtype) ? -(1 << (bits - 1)) : 0;
    contents.high = contents.low + (1 << bits) - 1;
  } else if (is_integer(dtype)) {
    contents.low = is_signed(dtype) ? -20 : 0;
    contents.high = 20;
  }
  return contents;
}

WorkloadCase parse_workload_case(const std::string& line) {
  const size_t brace = std::min(line.find('{'), line.size());
  const size_t last_brace = line.rfind('}');
  const std::string head = line.substr(0, brace);
  GraphLexer lexer(head);
  WorkloadCase result;
  Workload& workload = result.workload;
  workload.op = lexer.word();
  if (lexer.take("::")) workload.domain = std::exchange(workload.op, lexer.word());
  lexer.expect("@");
  workload.version = number<int>(lexer, lexer.word());
  lexer.expect("(");
  while (!lexer.take(")")) {
    if (lexer.take_word("_")) {
      workload.inputs.emplace_back();
      result.contents.emplace_back();
    } else {
      workload.inputs.emplace_back(parse_spec(lexer));
      result.contents.push_back(parse_contents(lexer, workload.inputs.back()->dtype));
      TensorSpec& spec = *workload.inputs.back();
      if (spec.zero) result.contents.back() = {{}, 0, 0};
      spec.zero = is_known_zero(spec, result.contents.back());
    }
    lexer.take(",");
  }
  if (lexer.take("->")) {
    lexer.expect("(");
    while (!lexer.take(")")) {
      result.outputs.push_back(parse_output(lexer));
      lexer.take(",");
    }
  } else {
    result.outputs.emplace_back();
  }
  if (!lexer.at_end()) lexer.fail("expected the end of the line or attributes in braces");
  if (brace == line.size()) return result;
  if (last_brace == std::string::npos || last_brace < brace) lexer.fail("expected '}' at the end of the attributes");
  workload.attributes = parse_attributes(line.substr(brace, last_brace + 1 - brace));
  const std::string_view rest = trimmed(std::string_view(line).substr(last_brace + 1));
  if (rest == numeric_mode_name(NumericMode::high_performance))
    workload.mode = NumericMode::high_performance;
  else if (!rest.empty())
    throw UserError("after the attributes comes 'high_performance' or nothing, got '{}'", rest);
  return result;
}

Workload parse_workload(const std::string& line) {
  WorkloadCase what = parse_workload_case(line);
  for (const OutputCase& output : what.outputs) {
    if (output.wanted && !output.written) throw UserError("'{}': write the outputs out, as in '-> (f32[1x64])'", line);
    what.workload.outputs.emplace_back();
    if (output.wanted) what.workload.outputs.back() = output.spec;
  }
  return std::move(what.workload);
}

WorkloadCase case_of(const Workload& workload) {
  WorkloadCase what;
  what.workload = workload;
  what.workload.outputs.clear();
  for (const auto& spec : workload.inputs) {
    what.contents.push_back(spec ? Contents::usual(spec->dtype) : Contents{});
    if (spec && spec->zero) what.contents.back() = {{}, 0, 0};
  }
  for (const auto& spec : workload.outputs)
    what.outputs.push_back(spec ? OutputCase{true, true, *spec} : OutputCase{false, false, {}});
  return what;
}

std::string to_text(const WorkloadCase& what) {
  const Workload& workload = what.workload;
  std::string out = workload.domain.empty() ? "" : workload.domain + "::";
  out += fmt::format("{}@{}(", workload.op, workload.version);
  for (size_t i = 0; i < workload.inputs.size(); ++i) {
    const auto& spec = workload.inputs[i];
    out += (i ? ", " : "") + to_text(spec);
    if (!spec || spec->zero || what.contents[i] == Contents::usual(spec->dtype)) continue;
    const Contents& contents = what.contents[i];
    if (contents.values.empty()) {
      out += fmt::format(" in {}..{}", contents.low, contents.high);
      continue;
    }
    out += " = [";
    for (size_t j = 0; j < contents.values.size(); ++j) out += (j ? ", " : "") + fmt::format("{}", contents.values[j]);
    out += "]";
  }
  out += ") -> (";
  for (size_t i = 0; i < what.outputs.size(); ++i) {
    const OutputCase& output = what.outputs[i];
    out += i ? ", " : "";
    if (output.written || !output.wanted)
      out += to_text(output.wanted ? std::optional(output.spec) : std::nullopt);
    else
      out += output.spec.layout == Layout::plain ? "?" : fmt::format("?@{}", layout_name(output.spec.layout));
  }
  out += ") " + (workload.attributes.empty() ? "{}" : attributes_in_graph_form(workload.attributes));
  if (workload.mode != NumericMode::high_precision) out += fmt::format(" {}", numeric_mode_name(workload.mode));
  return out;
}

}  // namespace attune
