#include "graph/lexer.h"
#include "graph/text.h"

#include <charconv>

namespace attune {
namespace {

constexpr int kMostNesting = 64;

class Parser {
 public:
  Parser(std::string_view text, const BlobToTensor& blob) : lexer_(text), blob_(blob) {}

  Graph run() {
    Graph result = graph(nullptr, 0);
    if (!lexer_.at_end()) lexer_.fail("text after the graph");
    return result;
  }

 private:
  Graph graph(const Graph* outer, int depth) {
    if (depth > kMostNesting) lexer_.fail("graphs nest too deeply");
    Graph result;
    lexer_.expect("graph");
    result.name = lexer_.string();
    lexer_.expect("{");
    while (!lexer_.take("}")) statement(result, outer, depth);
    return result;
  }

  void statement(Graph& graph, const Graph* outer, int depth) {
    if (lexer_.take_word("opset")) {
      const std::string domain = lexer_.string();
      graph.opsets[domain] = integer();
    } else if (lexer_.take_word("input")) {
      graph.inputs.push_back(defined(graph));
    } else if (lexer_.take_word("capture")) {
      const std::string inner = lexer_.name();
      lexer_.expect("=");
      if (outer == nullptr) lexer_.fail("a capture stands outside of a subgraph");
      const ValueId source = known(*outer, lexer_.name());
      Value value;
      value.name = inner;
      value.dtype = outer->value(source).dtype;
      value.shape = outer->value(source).shape;
      graph.captures.push_back({source, fresh(graph, std::move(value))});
    } else if (lexer_.take_word("const")) {
      const ValueId id = defined(graph);
      lexer_.expect("=");
      graph.value(id).constant = contents(graph.value(id).dtype, graph.value(id).shape);
    } else if (lexer_.take_word("output")) {
      graph.outputs.push_back(known(graph, lexer_.name()));
    } else {
      node(graph, depth);
    }
  }

  void node(Graph& graph, int depth) {
    Node result;
    do result.outputs.push_back(lexer_.take_word("_") ? kNoValue : defined(graph));
    while (lexer_.take(","));
    lexer_.expect("=");
    result.op = lexer_.word();
    if (lexer_.take("::")) result.domain = std::exchange(result.op, lexer_.word());
    lexer_.expect("@");
    result.version = static_cast<int>(integer());
    lexer_.expect("(");
    if (!lexer_.take(")")) {
      do result.inputs.push_back(lexer_.take_word("_") ? kNoValue : known(graph, lexer_.name()));
      while (lexer_.take(","));
      lexer_.expect(")");
    }
    if (lexer_.peek("\"")) result.name = lexer_.string();
    if (lexer_.take("{")) {
      do {
        const std::string name = lexer_.word();
        lexer_.expect("=");
        result.attributes[name] = attribute(graph, depth);
      } while (lexer_.take(","));
      lexer_.expect("}");
    }
    graph.add_node(std::move(result));
  }

  ValueId fresh(Graph& graph, Value value) {
    if (graph.find_value(value.name)) lexer_.fail("value '" + value.name + "' is defined twice");
    return graph.add_value(std::move(value));
  }

  /// `%name` or `%name : type`, of a value that this statement defines.
  ValueId defined(Graph& graph) {
    Value value;
    value.name = lexer_.name();
    if (lexer_.take(":")) {
      std::tie(value.dtype, value.shape) = type();
      if (lexer_.take("@")) value.layout = layout();
    }
    return fresh(graph, std::move(value));
  }

  ValueId known(const Graph& graph, const std::string& name) {
    const auto id = graph.find_value(name);
    if (!id) lexer_.fail("value '" + name + "' is not defined before this line");
    return *id;
  }

  std::pair<DType, std::optional<Shape>> type() {
    const std::string word = lexer_.word();
    const auto dtype = parse_dtype(word);
    if (!dtype) lexer_.fail("'" + word + "' is not a dtype");
    if (!lexer_.take("[")) return {*dtype, std::nullopt};
    Shape shape;
    while (!lexer_.take("]")) {
      const std::string text = lexer_.until(",]");
      const auto dim = Dim::parse(text);
      if (!dim) lexer_.fail("'" + text + "' is not a dim");
      shape.push_back(*dim);
      lexer_.take(",");
    }
    return {*dtype, std::move(shape)};
  }

  Layout layout() {
    const std::string word = lexer_.word();
    for (const Layout layout : {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c})
      if (layout_name(layout) == word) return layout;
    lexer_.fail("'" + word + "' is not a layout");
  }

  template <class T> T number(const std::string& word) {
    T value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) lexer_.fail("'" + word + "' is not a number");
    return value;
  }
  int64_t integer() { return number<int64_t>(lexer_.word()); }
  /// "1.5f", "inff", "nanf": the last letter marks a float.
  float floating(std::string word) {
    if (!word.ends_with('f')) lexer_.fail("'" + word + "' is not a float such as 1.5f");
    word.pop_back();
    return number<float>(word);
  }

  template <class T, class F> std::vector<T> list(F element) {
    std::vector<T> values;
    lexer_.expect("[");
    while (!lexer_.take("]")) {
      values.push_back(element());
      lexer_.take(",");
    }
    return values;
  }

  Tensor contents(DType dtype, const std::optional<Shape>& shape) {
    const auto dims = concrete(shape);
    if (!dims) lexer_.fail("contents need a type with numbers for dims");
    if (lexer_.peek("...")) lexer_.fail("contents were left out when this was printed");
    if (lexer_.take_word("blob")) {
      if (!blob_) lexer_.fail("contents are kept elsewhere, and nothing here knows where");
      return blob_(integer(), dtype, *dims);
    }
    if (lexer_.take_word("hex")) return from_hex(dtype, *dims, lexer_.string());
    Tensor tensor;
    if (dtype == DType::f32)
      tensor = numbers<float>(*dims);
    else if (dtype == DType::f64)
      tensor = numbers<double>(*dims);
    else if (dtype == DType::i64)
      tensor = numbers<int64_t>(*dims);
    else if (dtype == DType::i32)
      tensor = numbers<int32_t>(*dims);
    else
      lexer_.fail("contents of " + std::string(dtype_name(dtype)) + " are written as hex \"…\"");
    return tensor;
  }

  template <class T> Tensor numbers(const Dims& dims) {
    const auto values = list<T>([&] { return number<T>(lexer_.word()); });
    if (checked_count(dims) != static_cast<int64_t>(values.size()))
      lexer_.fail("the number of values does not fit the type");
    return Tensor::from<T>(dims, values);
  }

  Tensor from_hex(DType dtype, const Dims& dims, const std::string& hex) {
    Tensor tensor = Tensor::allocate(dtype, dims);
    if (static_cast<int64_t>(hex.size()) != 2 * tensor.size_bytes())
      lexer_.fail("the number of bytes does not fit the type");
    for (int64_t i = 0; i < tensor.size_bytes(); ++i) {
      unsigned byte = 0;
      const char* begin = hex.data() + 2 * i;
      if (std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2) lexer_.fail("not a hexadecimal byte");
      tensor.mutable_bytes()[i] = static_cast<std::byte>(byte);
    }
    return tensor;
  }

  Tensor tensor() {
    lexer_.expect("tensor");
    const auto [dtype, shape] = type();
    return contents(dtype, shape);
  }

  Attribute attribute(const Graph& graph_around, int depth) {
    if (lexer_.peek("\"")) return lexer_.string();
    if (lexer_.peek("graph")) return std::make_shared<Graph>(graph(&graph_around, depth + 1));
    if (lexer_.take_word("ints")) return list<int64_t>([&] { return integer(); });
    if (lexer_.take_word("floats")) return list<float>([&] { return floating(lexer_.word()); });
    if (lexer_.take_word("strings")) return list<std::string>([&] { return lexer_.string(); });
    if (lexer_.take_word("tensors")) return list<Tensor>([&] { return tensor(); });
    if (lexer_.peek("tensor")) return tensor();
    const std::string word = lexer_.word();
    if (word.ends_with('f')) return floating(word);
    return number<int64_t>(word);
  }

  GraphLexer lexer_;
  const BlobToTensor& blob_;
};

}  // namespace

Graph parse_graph(std::string_view text, const BlobToTensor& blob) { return Parser(text, blob).run(); }

}  // namespace attune
