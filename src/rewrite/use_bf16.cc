#include "rewrite/use_bf16.h"

#include "ops/convert.h"
#include "ops/infer_graph.h"
#include "ops/node_traits.h"

#include <algorithm>
#include <map>

namespace attune::rewrite {
namespace {

constexpr int64_t kOnnxFloat = 1, kOnnxBfloat16 = 16;  // TensorProto.DataType
constexpr int kCastOpset = 13;

/// These hold nearly all of a network's arithmetic, and hardware multiplies bf16 several times faster than f32.
constexpr std::string_view kProducts[] = {"Conv", "MatMul", "ConvTranspose", "FusedAttention"};

/// These only move or lightly change what products give; in bf16 they move half the bytes and need no cast.
constexpr std::string_view kFollowers[] = {
    "Add",
    "AveragePool",
    "BatchNormalization",
    "ChannelShuffle",
    "Clip",
    "Concat",
    "DepthToSpace",
    "Div",
    "Dropout",
    "Elu",
    "Expand",
    "Flatten",
    "Gather",
    "Gelu",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "LayerNormalization",
    "LeakyRelu",
    "MaxPool",
    "Mish",
    "Mul",
    "PRelu",
    "Pad",
    "Relu",
    "Reshape",
    "Resize",
    "Sigmoid",
    "Slice",
    "Softmax",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Sub",
    "Swish",
    "Tanh",
    "Tile",
    "Transpose",
    "Unsqueeze",
    "Upsample",
    "Where",
};

bool is_listed(std::string_view op, std::span<const std::string_view> list) {
  return std::ranges::find(list, op) != list.end();
}

/// The f32 inputs that have the type of the result; a Resize's scales, say, stay f32 whatever it resizes.
bool follows_type(const Node& node, size_t input) {
  return input == 0 || (node.op != "Resize" && node.op != "Upsample");
}

class Lowering {
 public:
  Lowering(Graph& graph, const LeftAlone& left_alone)
      : graph_(graph), left_alone_(left_alone), facts_(infer_graph(graph)) {}

  int run() {
    int changes = 0;
    const std::vector<Node> before = graph_.nodes();
    for (const Node& node : before) {
      if (wants_bf16(node)) {
        lower(node);
        ++changes;
      } else {
        keep(node);
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

  bool wants_bf16(const Node& node) const {
    const bool known = node.domain.empty() || node.domain == "attune";  // the latter are of our own rewriting
    if (left_alone_.count(node.name) > 0) return false;
    if (!known || node.outputs.empty() || node.outputs[0] == kNoValue || !is_f32(node.outputs[0])) return false;
    // Second outputs of normalisations are statistics, which stay f32.
    const bool parts = node.op == "Split" || node.op == "ChannelShuffle" || node.op == "MaxPool";
    if (node.outputs.size() > 1 && !parts) return false;
    if (is_listed(node.op, kProducts)) return true;
    if (!is_listed(node.op, kFollowers)) return false;
    return std::ranges::any_of(node.inputs, [&](ValueId id) { return id != kNoValue && lowered_.count(id) > 0; });
  }

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
  const LeftAlone& left_alone_;
  GraphFacts facts_;
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
