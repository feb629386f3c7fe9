// The graph: values, nodes in topological order, inputs and outputs. A subgraph (body of If, Loop, Scan) is a graph of
// its own that names the outer values it reads as captures, so it can be analysed and run alone.
#pragma once

#include "graph/attribute.h"
#include "graph/dtype.h"
#include "graph/shape.h"
#include "graph/tensor.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attune {

using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;  // an omitted optional input or output
using NodeId = int32_t;
inline constexpr NodeId kNoNode = -1;  // producer of graph inputs, captures and constants

/// How the elements of a value lie in memory; plain is the row-major order that ONNX means.
enum class Layout : uint8_t { plain, nhwc, nchw8c, nchw16c };
std::string_view layout_name(Layout layout);

struct Value {
  std::string name;                // unique in its graph
  DType dtype = DType::undefined;  // undefined: not inferred yet
  std::optional<Shape> shape;      // nothing: the rank is not known
  Layout layout = Layout::plain;
  Tensor constant;  // empty() unless the contents are known
  NodeId producer = kNoNode;
  bool is_constant() const { return !constant.empty(); }
};

struct Node {
  std::string name;    // unique in its graph
  std::string domain;  // "" is ai.onnx
  std::string op;
  int version = 0;              // the opset of its domain that the model was written for
  std::vector<ValueId> inputs;  // kNoValue where omitted
  std::vector<ValueId> outputs;
  Attributes attributes;
};

/// A value of the enclosing graph that a subgraph reads.
struct Capture {
  ValueId outer = kNoValue;
  ValueId inner = kNoValue;
};

class Graph {
 public:
  std::string name;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<Capture> captures;
  std::map<std::string, int64_t> opsets;  // domain → version the graph was written for

  ValueId add_value(Value value);  // makes the name unique when it is taken or empty
  ValueId add_input(std::string name, DType dtype, std::optional<Shape> shape);
  ValueId add_constant(std::string name, Tensor tensor);
  /// Output values must exist already (add_value); their producer is set here.
  NodeId add_node(Node node);

  Value& value(ValueId id) { return values_.at(static_cast<size_t>(id)); }
  const Value& value(ValueId id) const { return values_.at(static_cast<size_t>(id)); }
  Node& node(NodeId id) { return nodes_.at(static_cast<size_t>(id)); }
  const Node& node(NodeId id) const { return nodes_.at(static_cast<size_t>(id)); }
  std::deque<Value>& values() { return values_; }
  const std::deque<Value>& values() const { return values_; }
  std::vector<Node>& nodes() { return nodes_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  std::optional<ValueId> find_value(std::string_view name) const;

  /// Replaces all nodes (same values) and sets the producers anew; for passes and for the importer's sort.
  void set_nodes(std::vector<Node> nodes);

 private:
  std::deque<Value> values_;  // deque: references stay valid while values are added
  std::vector<Node> nodes_;
  std::map<std::string, ValueId, std::less<>> by_name_;
};

}  // namespace attune
