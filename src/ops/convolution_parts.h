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

/// Fails for a step whose operand is none of the inputs from `first` on, where those of the epilogue are.
void check_operands(InferContext& context, std::span<const EpilogueStep> steps, size_t first);

}  // namespace attune
