#include "ops/ml_tree.h"

#include "ops/convert.h"
#include "ops/ml_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace attune {
namespace {

bool compare(const Forest& forest, const TreeNode& node, double value) {
  switch (node.branch) {
    case Branch::leq: return value <= node.threshold;
    case Branch::lt: return value < node.threshold;
    case Branch::gte: return value >= node.threshold;
    case Branch::gt: return value > node.threshold;
    case Branch::eq: return value == node.threshold;
    case Branch::neq: return value != node.threshold;
    case Branch::member: {
      const auto& set = forest.member_sets[static_cast<size_t>(node.members)];
      return std::binary_search(set.begin(), set.end(), value);
    }
    case Branch::leaf: break;
  }
  return false;
}

Branch branch_from_text(const OpContext& context, const std::string& text) {
  if (text == "BRANCH_LEQ") return Branch::leq;
  if (text == "BRANCH_LT") return Branch::lt;
  if (text == "BRANCH_GTE") return Branch::gte;
  if (text == "BRANCH_GT") return Branch::gt;
  if (text == "BRANCH_EQ") return Branch::eq;
  if (text == "BRANCH_NEQ") return Branch::neq;
  if (text == "LEAF") return Branch::leaf;
  context.fail("node mode '{}' is not known", text);
}

/// Node indices are 32-bit; a real ensemble is far below.
int32_t node_index(const OpContext& context, int64_t index) {
  if (index > std::numeric_limits<int32_t>::max()) context.fail("the ensemble has too many nodes");
  return static_cast<int32_t>(index);
}

void note_feature(Forest& forest, const OpContext& context, int64_t feature) {
  if (feature < 0) context.fail("a node reads feature {}", feature);
  forest.most_feature = std::max(forest.most_feature, feature);
}

void check_target(const OpContext& context, int64_t target, int64_t targets) {
  if (target < 0 || target >= targets) context.fail("a leaf votes for {}, but there are {} targets", target, targets);
}

/// Finds nodes by (tree, id), which must be unique.
class NodeFinder {
 public:
  NodeFinder(const std::vector<int64_t>& trees, const std::vector<int64_t>& ids, const OpContext& context)
      : trees_(trees), ids_(ids), context_(context), order_(trees.size()) {
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<int32_t>(i);
    std::sort(order_.begin(), order_.end(), [&](int32_t a, int32_t b) { return key(a) < key(b); });
    for (size_t i = 1; i < order_.size(); ++i)
      if (key(order_[i - 1]) == key(order_[i]))
        context.fail("node {} of tree {} is given twice", ids[static_cast<size_t>(order_[i])],
                     trees[static_cast<size_t>(order_[i])]);
  }

  int32_t find(int64_t tree, int64_t id) const {
    const std::pair wanted(tree, id);
    const auto found = std::lower_bound(order_.begin(), order_.end(), wanted,
                                        [&](int32_t index, const auto& value) { return key(index) < value; });
    if (found == order_.end() || key(*found) != wanted) context_.fail("tree {} has no node {}", tree, id);
    return *found;
  }

 private:
  std::pair<int64_t, int64_t> key(int32_t index) const {
    return {trees_[static_cast<size_t>(index)], ids_[static_cast<size_t>(index)]};
  }

  const std::vector<int64_t>& trees_;
  const std::vector<int64_t>& ids_;
  const OpContext& context_;
  std::vector<int32_t> order_;
};

/// Gives every leaf its votes, which the attributes list in any order.
void attach_votes(Forest& forest, const OpContext& context, const std::string& prefix, const NodeFinder& finder,
                  int64_t targets) {
  const auto& trees = context.attr_ints(prefix + "_treeids");
  const auto& ids = context.attr_ints(prefix + "_nodeids");
  const auto& target_ids = context.attr_ints(prefix + "_ids");
  const auto weights = floats_or_tensor(context, prefix + "_weights");
  const auto count = static_cast<int64_t>(trees.size());
  node_index(context, count);
  require_size(context, prefix + "_nodeids", ids.size(), count);
  require_size(context, prefix + "_ids", target_ids.size(), count);
  require_size(context, prefix + "_weights", weights.size(), count);

  std::vector<int32_t> leaf_of_vote(trees.size());
  for (size_t i = 0; i < trees.size(); ++i) {
    leaf_of_vote[i] = finder.find(trees[i], ids[i]);
    check_target(context, target_ids[i], targets);
    ++forest.nodes[static_cast<size_t>(leaf_of_vote[i])].votes_end;  // counts first
  }
  int32_t begin = 0;
  for (TreeNode& node : forest.nodes) {
    const int32_t votes = node.votes_end;
    node.votes_begin = node.votes_end = begin;
    begin += votes;
  }
  forest.votes.resize(trees.size());
  for (size_t i = 0; i < trees.size(); ++i) {
    TreeNode& leaf = forest.nodes[static_cast<size_t>(leaf_of_vote[i])];
    forest.votes[static_cast<size_t>(leaf.votes_end++)] = {target_ids[i], weights[i]};
  }
}

std::vector<double> tensor_values(const Tensor& tensor) {
  const Tensor doubles = convert(tensor, DType::f64);
  return {doubles.data<double>(), doubles.data<double>() + doubles.count()};
}

/// The sets of the member nodes, in their order, separated by NaN.
std::vector<std::vector<double>> member_sets(const OpContext& context, size_t count) {
  std::vector<std::vector<double>> sets(1);
  if (context.has_attr("membership_values")) {
    for (const double value : tensor_values(context.attr_tensor("membership_values"))) {
      if (std::isnan(value))
        sets.emplace_back();
      else
        sets.back().push_back(value);
    }
  }
  if (sets.back().empty()) sets.pop_back();  // a NaN after the last set
  if (sets.size() != count) context.fail("there are {} sets of members for {} nodes", sets.size(), count);
  for (auto& set : sets) std::sort(set.begin(), set.end());
  return sets;
}

}  // namespace

const TreeNode& Forest::leaf_of(int32_t root, const double* row, const OpContext& context) const {
  const TreeNode* node = &nodes[static_cast<size_t>(root)];
  for (size_t steps = 0; node->branch != Branch::leaf; ++steps) {
    if (steps == nodes.size()) context.fail("the nodes of a tree form a cycle");
    const double value = row[node->feature];
    const bool taken = compare(*this, *node, value) || (node->missing_goes_true && std::isnan(value));
    node = &nodes[static_cast<size_t>(taken ? node->when_true : node->when_false)];
  }
  return *node;
}

std::vector<double> floats_or_tensor(const OpContext& context, const std::string& name) {
  if (context.has_attr(name + "_as_tensor")) return tensor_values(context.attr_tensor(name + "_as_tensor"));
  const auto list = context.attr_floats(name, {});
  return {list.begin(), list.end()};
}

Forest forest_from_tables(const OpContext& context, const std::string& prefix, int64_t targets) {
  const auto& trees = context.attr_ints("nodes_treeids");
  const auto& ids = context.attr_ints("nodes_nodeids");
  const auto& features = context.attr_ints("nodes_featureids");
  const auto& modes = context.attr_strings("nodes_modes");
  const auto& when_true = context.attr_ints("nodes_truenodeids");
  const auto& when_false = context.attr_ints("nodes_falsenodeids");
  const auto values = floats_or_tensor(context, "nodes_values");
  const auto missing = context.attr_ints("nodes_missing_value_tracks_true", {});
  const auto count = static_cast<int64_t>(trees.size());
  node_index(context, count);
  require_size(context, "nodes_nodeids", ids.size(), count);
  require_size(context, "nodes_featureids", features.size(), count);
  require_size(context, "nodes_modes", modes.size(), count);
  require_size(context, "nodes_truenodeids", when_true.size(), count);
  require_size(context, "nodes_falsenodeids", when_false.size(), count);
  require_size(context, "nodes_values", values.size(), count);
  if (!missing.empty()) require_size(context, "nodes_missing_value_tracks_true", missing.size(), count);

  Forest forest;
  const NodeFinder finder(trees, ids, context);
  std::map<int64_t, int32_t> root_of_tree;  // the first node that is listed
  for (size_t i = 0; i < trees.size(); ++i) {
    if (root_of_tree.emplace(trees[i], static_cast<int32_t>(i)).second) forest.roots.push_back(static_cast<int32_t>(i));
    TreeNode node;
    node.branch = branch_from_text(context, modes[i]);
    if (node.branch != Branch::leaf) {
      note_feature(forest, context, features[i]);
      node.feature = features[i];
      node.threshold = values[i];
      node.missing_goes_true = !missing.empty() && missing[i] != 0;
      node.when_true = finder.find(trees[i], when_true[i]);
      node.when_false = finder.find(trees[i], when_false[i]);
    }
    forest.nodes.push_back(node);
  }
  attach_votes(forest, context, prefix, finder, targets);
  return forest;
}

Forest forest_from_arrays(const OpContext& context, int64_t targets) {
  const auto modes = tensor_values(context.attr_tensor("nodes_modes"));
  const auto splits = tensor_values(context.attr_tensor("nodes_splits"));
  const auto weights = tensor_values(context.attr_tensor("leaf_weights"));
  const auto& leaf_targets = context.attr_ints("leaf_targetids");
  const auto& features = context.attr_ints("nodes_featureids");
  const auto& true_ids = context.attr_ints("nodes_truenodeids");
  const auto& false_ids = context.attr_ints("nodes_falsenodeids");
  const auto& true_leafs = context.attr_ints("nodes_trueleafs");
  const auto& false_leafs = context.attr_ints("nodes_falseleafs");
  const auto missing = context.attr_ints("nodes_missing_value_tracks_true", {});
  const auto count = static_cast<int64_t>(modes.size());
  const auto leaves = static_cast<int64_t>(weights.size());
  node_index(context, count + leaves);
  require_size(context, "nodes_splits", splits.size(), count);
  require_size(context, "nodes_featureids", features.size(), count);
  require_size(context, "nodes_truenodeids", true_ids.size(), count);
  require_size(context, "nodes_falsenodeids", false_ids.size(), count);
  require_size(context, "nodes_trueleafs", true_leafs.size(), count);
  require_size(context, "nodes_falseleafs", false_leafs.size(), count);
  require_size(context, "leaf_targetids", leaf_targets.size(), leaves);
  if (!missing.empty()) require_size(context, "nodes_missing_value_tracks_true", missing.size(), count);

  // Leaves follow the interior nodes in one list.
  const auto child = [&](int64_t id, int64_t is_leaf) {
    if (id < 0 || id >= (is_leaf ? leaves : count))
      context.fail("a node refers to {} {}, which does not exist", is_leaf ? "leaf" : "node", id);
    return static_cast<int32_t>(is_leaf ? count + id : id);
  };
  Forest forest;
  size_t member_nodes = 0;
  for (size_t i = 0; i < modes.size(); ++i) {
    if (!(modes[i] >= 0 && modes[i] <= 6)) context.fail("node mode {} is not known", modes[i]);
    TreeNode node;
    node.branch = static_cast<Branch>(static_cast<int>(modes[i]));  // the numbers are in the order of the enum
    note_feature(forest, context, features[i]);
    node.feature = features[i];
    node.threshold = splits[i];
    node.missing_goes_true = !missing.empty() && missing[i] != 0;
    node.when_true = child(true_ids[i], true_leafs[i]);
    node.when_false = child(false_ids[i], false_leafs[i]);
    if (node.branch == Branch::member) node.members = static_cast<int32_t>(member_nodes++);
    forest.nodes.push_back(node);
  }
  forest.member_sets = member_sets(context, member_nodes);
  for (size_t i = 0; i < weights.size(); ++i) {
    check_target(context, leaf_targets[i], targets);
    TreeNode leaf;
    leaf.votes_begin = static_cast<int32_t>(i);
    leaf.votes_end = leaf.votes_begin + 1;
    forest.nodes.push_back(leaf);
    forest.votes.push_back({leaf_targets[i], weights[i]});
  }
  for (const int64_t root : context.attr_ints("tree_roots")) forest.roots.push_back(child(root, 0));
  return forest;
}

}  // namespace attune
