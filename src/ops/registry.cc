#include "ops/registry.h"

#include "ops/families.h"

#include <algorithm>
#include <array>
#include <map>

namespace attune {
namespace {

using FamilyList = std::span<const OpDef> (*)();
constexpr FamilyList kFamilies[] = {
    unary_ops,
    activation_ops,
    binary_ops,
    variadic_ops,
    cast_ops,
    quantize_ops,
    quantized_compute_ops,
    contrib_quantized_ops,
    view_ops,
    movement_ops,
    gather_ops,
    scatter_ops,
    select_ops,
    generate_ops,
    random_ops,
    cumulative_ops,
    text_ops,
    matmul_ops,
    einsum_ops,
    conv_ops,
    conv_transpose_ops,
    conv_special_ops,
    pool_ops,
    region_ops,
    resize_ops,
    sample_ops,
    lrn_ops,
    image_ops,
    reduce_ops,
    softmax_ops,
    normalization_ops,
    loss_ops,
    signal_ops,
    linalg_ops,
    ml_ops,
    recurrent_ops,
    attention_ops,
    control_flow_ops,
    contrib_math_ops,
    contrib_recurrent_ops,
    contrib_transformer_ops,
    fused_ops,
    fused_attention_ops,
    fused_separable_ops,
    shuffled_conv_ops,
    squeeze_excite_ops,
    fused_vector_ops,
    channel_shuffle_ops,
};

std::vector<OpDef> join_families() {
  std::vector<OpDef> ops;
  for (const FamilyList family : kFamilies)
    for (const OpDef& op : family()) ops.push_back(op);
  return ops;
}

using Index = std::multimap<std::pair<std::string_view, std::string_view>, const OpDef*>;

Index build_index() {
  Index index;
  for (const OpDef& op : all_ops()) index.emplace(std::pair(op.domain, op.name), &op);
  return index;
}

const Index& op_index() {
  static const Index index = build_index();
  return index;
}

std::string domain_text(std::string_view domain) { return domain.empty() ? "ai.onnx" : std::string(domain); }

}  // namespace

std::span<const OpDef> all_ops() {
  static const std::vector<OpDef> ops = join_families();
  return ops;
}

const OpDef* find_op(std::string_view domain, std::string_view name, int version) {
  if (domain == "ai.onnx") domain = "";
  const auto [begin, end] = op_index().equal_range({domain, name});
  for (auto it = begin; it != end; ++it)
    if (it->second->since <= version && version <= it->second->until) return it->second;
  return nullptr;
}

const OpDef& require_op(const Node& node) {
  if (const OpDef* op = find_op(node.domain, node.op, node.version)) return *op;
  throw UnsupportedError("operator '{}' of domain '{}' opset {} (node '{}') is not supported", node.op,
                         domain_text(node.domain), node.version, node.name);
}

}  // namespace attune
