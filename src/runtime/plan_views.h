// Nodes that need no step of their own, because their outputs lie inside of their inputs or the other way round.
#pragma once

#include "runtime/plan_builder.h"

namespace attune {

/// Whether a Transpose moves only axes of size 1, so that all elements stay where they are.
bool keeps_elements(const Node& node, const Workload& workload);

/// For a node that renames_dims() or keeps_elements(): its output is its first input's storage.
void add_view(PlanBuilder& plan, const Node& node, const Workload& workload);

/// A Transpose that only says in words of axes how a layout has the elements: of a value that lies channels-last, or
/// read in the layout that is `wanted` of it. False when the node is no such.
bool add_transposed_view(PlanBuilder& plan, const Node& node, const Workload& workload, Layout wanted);

/// Split, and Slice along one axis, of a value whose parts each lie in one piece: the outputs are where the input is.
/// False when the node is no such.
bool add_parts(PlanBuilder& plan, const Node& node, const Workload& workload);

/// Gather of one element of an axis, the index being known, of a value in which that lies in one piece. False when the
/// node is no such.
bool add_taken(PlanBuilder& plan, const Node& node, const Workload& workload);

/// Concat whose inputs can be written where they will lie in the result: nothing is left to do for it. False when the
/// node is no such.
bool join_in_place(PlanBuilder& plan, const Node& node, const Workload& workload);

}  // namespace attune
