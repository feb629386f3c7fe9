#include "rewrite/use_bf16.h"

#include "ops/convert.h"
#include "ops/infer_graph.h"
#include "rewrite/bf16_regions.h"

#include <map>

namespace attune::rewrite {
namespace {

constexpr int64_t kOnnxFloat = 1, kOnnxBfloat16 = 16;  // TensorProto.DataType
constexpr int kCastOpset = 13;

/// The f32 inputs that have the type of the result; a Resize's scales, say, stay f32 whatever it resizes.
bool follows_type(const Node& node, size_t input) {
  return input == 0 || (node.op != "Resize" && node.op != "Upsample");
}

class Lowering {
 public:
  Lowering(Graph& graph, const LeftAlone& left_alone)
      : graph_(graph), facts_(infer_graph(graph)), selected_(select_bf16(graph, facts_, left_alone)) {}

  int run() {
    int changes = 0;
    const std::vector<Node> before = graph_.nodes();
    for (size_t i = 0; i < before.size(); ++i) {
      if (selected_[i] != kNoNode) {
        lower(before[i]);
        ++changes;
      } else {
        keep(before[i]);
      }
    }
    if (changes == 0) return 0;
    for (const ValueId id : graph_.outputs) provide_f32(id);
    graph_.set_nodes(std::move(nodes_));
    return changes;
  }

 private:
  bool is_f32(ValueId id) const {
    // Values added here are known by their dtype; those of the model by inference.
    const auto at = static_cast<size_t>(id);
    return at < facts_.types.size() && facts_.types[at].dtype == DType::f32;
  }
  bool is_constant(ValueId id) const { return graph_.value(id).is_constant(); }

  Node cast_node(ValueId from, ValueId to, int64_t type) const {
    Node cast;
    cast.name = graph_.value(to).name + "_cast";
    cast.op = "Cast";
    cast.version = kCastOpset;
    cast.inputs = {from};
    cast.outputs = {to};
    cast.attributes["to"] = type;
    return cast;
  }

  ValueId new_bf16(ValueId of) {
    Value value;
    value.name = graph_.value(of).name + "_bf16";
    value.dtype = DType::bf16;
    value.shape = graph_.value(of).shape;
    return graph_.add_value(std::move(value));
  }

  /// The bf16 form of an f32 value, cast when nothing made it yet.
  ValueId as_bf16(ValueId id) {
    if (const auto found = bf16_.find(id); found != bf16_.end()) return found->second;
    ValueId result = kNoValue;
    if (is_constant(id)) {
      result =
          graph_.add_constant(graph_.value(id).name + "_bf16", convert(graph_.value(id).constant.held(), DType::bf16));
      graph_.value(id).constant.release_pages();  // read for the last time, most likely
    } else {
      result = new_bf16(id);
      nodes_.push_back(cast_node(id, result, kOnnxBfloat16));
    }
    return bf16_[id] = result;
  }

  /// Casts a value back for those who read it in f32, once.
  void provide_f32(ValueId id) {
    const auto found = lowered_.find(id);
    if (found == lowered_.end() || found->second) return;
    found->second = true;
    nodes_.push_back(cast_node(bf16_.at(id), id, kOnnxFloat));
  }

  void keep(const Node& node) {
    for (const ValueId id : node.inputs)
      if (id != kNoValue) provide_f32(id);
    for (const auto& [name, attribute] : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute))
        for (const Capture& capture : (*body)->captures) provide_f32(capture.outer);
    nodes_.push_back(node);
  }

  void lower(const Node& node) {
    Node low = node;
    for (size_t i = 0; i < low.inputs.size(); ++i)
      if (low.inputs[i] != kNoValue && is_f32(low.inputs[i]) && follows_type(node, i))
        low.inputs[i] = as_bf16(low.inputs[i]);
    for (ValueId& id : low.outputs) {
      if (id == kNoValue || !is_f32(id)) continue;
      const ValueId result = new_bf16(id);
      bf16_[id] = result;
      lowered_[id] = false;
      id = result;
    }
    nodes_.push_back(std::move(low));
  }

  Graph& graph_;
  GraphFacts facts_;
  std::vector<NodeId> selected_;  // see select_bf16
  std::vector<Node> nodes_;
  std::map<ValueId, ValueId> bf16_;  // f32 value → its bf16 form
  std::map<ValueId, bool> lowered_;  // f32 values that only exist in bf16; true once cast back
};

}  // namespace

int use_bf16(Graph& graph, const LeftAlone& left_alone) {
  try {
    return Lowering(graph, left_alone).run();
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
