// Which steps of two plans of one model a change of kernels touches.
#pragma once

#include "runtime/plan.h"

#include <set>
#include <span>
#include <string>
#include <vector>

namespace attune {

/// A step whose time counts, whole or in part: what lies between two changes is shared by them.
struct StepShare {
  size_t step = 0;
  double share = 1;
};

/// What one changed workload answers for. Its own steps, the conversions of layout beside them, and the neighbours that
/// did not change themselves: a kernel that leaves its result in the wrong cache or layout slows down who reads it.
struct ChangedRegion {
  std::vector<size_t> own_before, own_after;  // steps of the workload's nodes
  std::vector<StepShare> before, after;       // all of the region, the own ones included
};

/// One region for each key of a workload of `before` that is run otherwise in `after`. Nodes are matched by name; what
/// one was taken apart into belongs to it.
std::vector<ChangedRegion> changed_regions(const Plan& before, const Plan& after,
                                           std::span<const std::string> changed_keys);

/// Names of nodes, before or after the graph was rewritten.
using NodeNames = std::set<std::string, std::less<>>;

/// The steps of these nodes, and of those that one of them was taken apart into.
std::vector<size_t> steps_named(const Plan& plan, const NodeNames& names);

/// One region for each set of nodes that are other nodes, or fewer, in `after`.
std::vector<ChangedRegion> changed_regions(const Plan& before, const Plan& after,
                                           std::span<const NodeNames> changed_nodes);

/// Pairs of steps (before, after) that have the same kernel in both plans and lie in no region: identical code.
std::vector<std::pair<size_t, size_t>> untouched_steps(const Plan& before, const Plan& after,
                                                       std::span<const ChangedRegion> regions);

}  // namespace attune
