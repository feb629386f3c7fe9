// A workload: one operator with everything that decides its speed. Its canonical text is its key; names of nodes and
// files are not part of it.
#pragma once

#include "kernel/tensor_spec.h"
#include "ops/infer_graph.h"

#include <string>
#include <vector>

namespace attune {

/// How much error an implementation may have (spec A3): a tolerance that is measured, not a list of names.
enum class NumericMode : uint8_t { high_precision, high_performance };
std::string_view numeric_mode_name(NumericMode mode);

struct Workload {
  std::string domain;  // "" is ai.onnx, "attune" the fused operators that rewriting makes
  std::string op;
  int version = 0;
  Attributes attributes;
  std::vector<std::optional<TensorSpec>> inputs;  // nothing where omitted
  std::vector<std::optional<TensorSpec>> outputs;
  NumericMode mode = NumericMode::high_precision;

  bool has_input(size_t i) const { return i < inputs.size() && inputs[i].has_value(); }
  const TensorSpec& input(size_t i) const { return *inputs.at(i); }
  const TensorSpec& output(size_t i) const { return *outputs.at(i); }

  /// "Conv@17(f32[1x64x56x56], f32[64x64x3x3]*) -> (f32[1x64x56x56]) {pads=[1, 1, 1, 1]}"
  std::string key() const;
  /// A node that computes this workload, for kernels that run the operator itself: value ids are operand positions.
  Node node() const;
};

/// The workload of a node, when every shape is known; nothing otherwise.
std::optional<Workload> make_workload(const Graph& graph, const GraphFacts& facts, const Node& node);

/// Attributes as the key has them: "pads=[1, 1, 1, 1], strides=[2, 2]".
std::string attributes_text(const Attributes& attributes);

}  // namespace attune
