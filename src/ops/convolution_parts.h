// What operators that hold convolutions inside have in common: giving them away and taking them back as nodes.
#pragma once

#include "graph/graph.h"

namespace attune {

inline constexpr const char* kEpilogueName = "epilogue";
inline constexpr size_t kConvOperands = 3;  // of Conv itself: X, W, B; those of an epilogue follow

ValueId input_or_none(const Node& node, size_t i);

/// Makes it Conv, or FusedConv where it has an epilogue.
void name_convolution(Node& node);

/// The epilogue of a node whose operands are inputs, counted from another position on.
Attribute with_operands_at(const Attributes& attributes, size_t from, size_t to);

}  // namespace attune
