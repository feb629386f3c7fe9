#include "rewrite/vector_step.h"

#include "ops/node_traits.h"
#include "rewrite/uses.h"

#include <algorithm>
#include <limits>

namespace attune::rewrite {
namespace {

using Operand = VectorOperand;

constexpr int kBroadcastsAlone = 7;    // before it, binary operators said along which axis
constexpr int kSoftmaxOfOneAxis = 13;  // before it, over everything from the axis on
constexpr int kClipByInputs = 11;

bool computes_on(DType dtype) { return dtype == DType::f32 || dtype == DType::bf16; }

Operand as_number(double value) { return {Operand::Kind::number, 0, static_cast<float>(value)}; }

class Drawing {
 public:
  Drawing(const Graph& graph, const GraphFacts& facts, const Node& node) : graph_(graph), facts_(facts), node_(node) {}

  std::optional<DrawnStep> run() {
    if (node_.outputs.empty() || node_.outputs[0] == kNoValue || has_subgraph(node_)) return std::nullopt;
    if (std::ranges::count_if(node_.outputs, [](ValueId id) { return id != kNoValue; }) != 1) return std::nullopt;
    const ValueType& result = type(node_.outputs[0]);
    if (!computes_on(result.dtype) || !result.shape || result.shape->empty()) return std::nullopt;
    if (!name_step() || !add_operands()) return std::nullopt;
    for (size_t i = 0; i < out_.values.size(); ++i)
      if (out_.values[i] != kNoValue && !reads(out_.values[i], i, *result.shape)) return std::nullopt;
    if (!has_vector_step(out_.step.op, out_.step.operands.size())) return std::nullopt;
    if (std::ranges::all_of(out_.step.operands, &Operand::is_number)) return std::nullopt;
    return std::move(out_);
  }

 private:
  const ValueType& type(ValueId id) const { return facts_.types[static_cast<size_t>(id)]; }

  bool reads(ValueId id, size_t position, const Shape& result) const {
    const ValueType& operand = type(id);
    const bool condition = out_.step.op == "Where" && position == 0;
    if (condition ? operand.dtype != DType::boolean : !computes_on(operand.dtype)) return false;
    return operand.shape && spreads_over(*operand.shape, result);
  }

  /// The step's name and numbers from the node's operator and attributes.
  bool name_step() {
    const std::string& op = node_.op;
    if (node_.domain == "com.microsoft") {
      if (op != "Gelu" && op != "QuickGelu") return false;
      out_.step.op = op == "Gelu" ? "Gelu" : "Swish";
      if (op == "QuickGelu") out_.step.numbers["alpha"] = attribute_or<float>(node_.attributes, "alpha", 1.702f);
      return true;
    }
    if (!node_.domain.empty()) return false;
    out_.step.op = op;
    if (op == "Cast") {
      // Of what the results' types say already; other types are refused with the operands.
      out_.step.op = type(node_.outputs[0]).dtype == DType::f32 ? "ToF32" : "ToBf16";
      return true;
    }
    if (op == "Gelu") {
      if (attribute_or<std::string>(node_.attributes, "approximate", "none") == "tanh") out_.step.op = "GeluTanh";
      return true;
    }
    if (op == "Clip") return true;
    if (out_.step.looks_at_rows() && !is_over_last_axis()) return false;
    const auto known = vector_step_attributes(op);
    for (const auto& [name, attribute] : node_.attributes) {
      if (name == "axis" || name == "stash_type") continue;  // looked at, or of statistics that nobody reads
      const auto* value = std::get_if<float>(&attribute);
      if (value == nullptr || std::ranges::find(known, name) == known.end()) return false;
      out_.step.numbers[name] = *value;
    }
    return node_.inputs.size() < 2 || out_.step.looks_at_rows() || node_.version >= kBroadcastsAlone;
  }

  bool is_over_last_axis() const {
    const auto rank = static_cast<int64_t>(type(node_.outputs[0]).shape->size());
    const bool softmax = node_.op == "Softmax" || node_.op == "LogSoftmax";
    const bool joined = softmax && node_.version < kSoftmaxOfOneAxis;
    const int64_t axis = attribute_or<int64_t>(node_.attributes, "axis", joined ? 1 : -1);
    return axis == -1 || axis == rank - 1;
  }

  bool add_operands() {
    if (node_.op == "Clip") return add_clip();
    for (size_t i = 0; i < node_.inputs.size(); ++i) {
      if (node_.inputs[i] == kNoValue) return false;
      const bool of_row = out_.step.looks_at_rows() && i > 0;
      const bool condition = node_.op == "Where" && i == 0;
      const auto constant = scalar_input(graph_, node_, i);
      // A choice between two numbers has the type of one of them, which therefore stays a value.
      const bool tells_type = node_.op == "Where" && i == 2 && out_.step.operands[1].is_number();
      const bool is_number = constant.has_value() && !of_row && !condition && !tells_type;
      const double number = constant.value_or(0);
      if (node_.op == "Pow" && i == 1) {
        constexpr double kPowers[] = {-2, -1, -0.5, 0.5, 1, 2, 3, 4};
        if (!is_number || std::ranges::find(kPowers, number) == std::end(kPowers)) return false;
      }
      if (is_number)
        add(as_number(number));
      else
        add(node_.inputs[i]);
      if (of_row && !is_row(node_.inputs[i])) return false;
    }
    return true;
  }

  bool add_clip() {
    constexpr double kEnd = std::numeric_limits<double>::infinity();
    std::optional<double> low = -kEnd, high = kEnd;
    if (node_.version >= kClipByInputs) {
      const auto bound = [&](size_t i, double fallback) {
        const bool given = i < node_.inputs.size() && node_.inputs[i] != kNoValue;
        return given ? scalar_input(graph_, node_, i) : std::optional<double>(fallback);
      };
      low = bound(1, -kEnd);
      high = bound(2, kEnd);
    } else {
      low = attribute_or<float>(node_.attributes, "min", static_cast<float>(-kEnd));
      high = attribute_or<float>(node_.attributes, "max", static_cast<float>(kEnd));
    }
    if (!low || !high || node_.inputs[0] == kNoValue) return false;
    add(node_.inputs[0]);
    add(as_number(*low));
    add(as_number(*high));
    return true;
  }

  /// One number for each place of a row.
  bool is_row(ValueId id) const {
    const auto& shape = type(id).shape;
    return shape && shape->size() == 1 && shape->front() == type(node_.outputs[0]).shape->back();
  }

  void add(Operand number) {
    out_.step.operands.push_back(number);
    out_.values.push_back(kNoValue);
  }
  void add(ValueId value) {
    out_.step.operands.push_back({});
    out_.values.push_back(value);
  }

  const Graph& graph_;
  const GraphFacts& facts_;
  const Node& node_;
  DrawnStep out_;
};

}  // namespace

bool spreads_over(const Shape& other, const Shape& result) {
  if (other.size() > result.size()) return false;
  const size_t offset = result.size() - other.size();
  for (size_t i = 0; i < other.size(); ++i)
    if (!(other[i] == Dim(1)) && !(other[i] == result[offset + i])) return false;
  return true;
}

std::optional<DrawnStep> as_vector_step(const Graph& graph, const GraphFacts& facts, const Node& node) {
  return Drawing(graph, facts, node).run();
}

}  // namespace attune::rewrite
