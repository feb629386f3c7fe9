// What operators that hold convolutions inside have in common: giving them away and taking them back as nodes.
#pragma once

#include "ops/context.h"
#include "ops/epilogue.h"

#include <span>

namespace attune {

inline constexpr const char* kEpilogueName = "epilogue";
inline constexpr size_t kConvOperands = 3;  // of Conv itself: X, W, B; those of an epilogue follow

ValueId input_or_none(const Node& node, size_t i);

/// Makes it Conv, or FusedConv where it has an epilogue.
void name_convolution(Node& node);

/// The epilogue of a node whose operands are inputs, counted from another position on.
Attribute with_operands_at(const Attributes& attributes, size_t from, size_t to);

/// Infers a convolution inside of a fused node on that node's own inputs, and keeps the result.
class PartInfer final : public InferContext {
 public:
  using Position = int (*)(int);

  /// `position` says which input of the fused node the convolution's own one is; both must outlive this.
  PartInfer(const Node& part, InferContext& outer, Position position)
      : InferContext(part), outer_(outer), position_(position) {}
  const ValueType& input(int i) const override { return outer_.input(position_(i)); }
  const Tensor* constant(int i) const override { return outer_.constant(position_(i)); }
  std::optional<std::vector<Dim>> content(int i) const override { return outer_.content(position_(i)); }
  void set_output(int, DType dtype, std::optional<Shape> shape) override { result = {dtype, std::move(shape)}; }
  void set_content(int, std::vector<Dim>) override {}
  std::vector<ValueType> infer_subgraph(const Graph& graph, std::span<const ValueType> inputs) override {
    return outer_.infer_subgraph(graph, inputs);
  }

  ValueType result;

 private:
  InferContext& outer_;
  Position position_;
};

/// Fails for a step whose operand is none of the inputs from `first` on, where those of the epilogue are.
void check_operands(InferContext& context, std::span<const EpilogueStep> steps, size_t first);

}  // namespace attune
