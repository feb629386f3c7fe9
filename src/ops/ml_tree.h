// Ensembles of decision trees: one form for the three operators, checked when it is built.
#pragma once

#include "ops/context.h"

#include <span>
#include <string>
#include <vector>

namespace attune {

enum class Branch : uint8_t { leq, lt, gte, gt, eq, neq, member, leaf };

struct TreeNode {
  Branch branch = Branch::leaf;
  bool missing_goes_true = false;  // where NaN goes
  int64_t feature = 0;
  double threshold = 0;
  int32_t when_true = 0, when_false = 0;   // indices of nodes
  int32_t votes_begin = 0, votes_end = 0;  // of a leaf
  int32_t members = 0;                     // index of a set, for Branch::member
};

struct Vote {
  int64_t target = 0;
  double weight = 0;
};

struct Forest {
  std::vector<TreeNode> nodes;
  std::vector<int32_t> roots;
  std::vector<Vote> votes;
  std::vector<std::vector<double>> member_sets;  // each sorted
  int64_t most_feature = -1;                     // largest feature that a node reads

  /// The leaf that a row ends in; fails when the nodes form a cycle.
  const TreeNode& leaf_of(int32_t root, const double* row, const OpContext& context) const;
  std::span<const Vote> votes_of(const TreeNode& leaf) const {
    return {votes.data() + leaf.votes_begin, votes.data() + leaf.votes_end};
  }
};

/// From the attributes of TreeEnsembleClassifier (`prefix` "class") or TreeEnsembleRegressor ("target").
Forest forest_from_tables(const OpContext& context, const std::string& prefix, int64_t targets);
/// From the attributes of TreeEnsemble.
Forest forest_from_arrays(const OpContext& context, int64_t targets);

/// Floats from attribute `name` or, since opset 3, doubles or floats from `name`_as_tensor.
std::vector<double> floats_or_tensor(const OpContext& context, const std::string& name);

}  // namespace attune
