#include "conformance/workload_case.h"

#include "graph/lexer.h"
#include "graph/text.h"

#include <charconv>

namespace attune::testing {
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

/// The attributes of the text form of graphs, read by its own parser.
Attributes parse_attributes(const std::string& text) {
  const Graph graph = parse_graph("graph \"case\" { %y = Case@1() \"case\" " + text + " }");
  return graph.nodes().at(0).attributes;
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
      workload.inputs.back()->zero = is_known_zero(*workload.inputs.back(), result.contents.back());
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
  if (brace < line.size()) workload.attributes = parse_attributes(line.substr(brace));
  return result;
}

}  // namespace attune::testing
