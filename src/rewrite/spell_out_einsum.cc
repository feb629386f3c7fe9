#include "rewrite/spell_out_einsum.h"

#include "ops/einsum_equation.h"
#include "ops/infer_graph.h"
#include "rewrite/append_node.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace attune::rewrite {
namespace {

using Labels = std::vector<int>;
using Ints = std::vector<int64_t>;

constexpr int kOpset = 13;

/// A product of matrices: which letters are rows, columns and what is summed over, in each of a batch.
struct Product {
  Labels batch, rows, columns, summed;
  Labels left, right, result;  // as the equation has them
  std::map<int, Dim> sizes;
};

Labels joined(std::initializer_list<Labels> parts) {
  Labels all;
  for (const Labels& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

bool has(const Labels& labels, int label) { return std::ranges::find(labels, label) != labels.end(); }

bool has_repeats(const Labels& labels) { return std::set<int>(labels.begin(), labels.end()).size() != labels.size(); }

/// Nothing for what is no such product: diagonals, sums over one operand alone, sizes that may differ.
std::optional<Product> product_of(const Node& node, const GraphFacts& facts) {
  const OpContext context(node);
  const EinsumEquation equation = parse_einsum(context, context.attr_string("equation"), 2);
  Product product;
  int64_t most_axes = 0;
  for (size_t i = 0; i < 2; ++i) {
    const ValueType& type = facts.types[static_cast<size_t>(node.inputs[i])];
    if (!type.shape || !is_float(type.dtype)) return std::nullopt;
    const int64_t axes = ellipsis_axes(context, equation.inputs[i], std::ssize(*type.shape));
    most_axes = std::max(most_axes, axes);
    Labels& labels = i == 0 ? product.left : product.right;
    labels = term_labels(equation.inputs[i], axes);
    if (has_repeats(labels)) return std::nullopt;
    for (size_t axis = 0; axis < labels.size(); ++axis) {
      const auto [known, is_new] = product.sizes.emplace(labels[axis], (*type.shape)[axis]);
      // One that is spread over the other is no product of matrices.
      if (!is_new && !(known->second == (*type.shape)[axis])) return std::nullopt;
    }
  }
  product.result = term_labels(equation.output, most_axes);
  if (has_repeats(product.result)) return std::nullopt;
  for (const int label : product.left) {
    if (has(product.right, label))
      (has(product.result, label) ? product.batch : product.summed).push_back(label);
    else if (!has(product.result, label))
      return std::nullopt;
  }
  for (const int label : product.right)
    if (!has(product.left, label) && !has(product.result, label)) return std::nullopt;
  for (const int label : product.result) {
    if (has(product.batch, label)) continue;
    (has(product.left, label) ? product.rows : product.columns).push_back(label);
  }
  return product;
}

/// The product of the sizes where all are numbers, and not 0, which Reshape would take for a copy.
std::optional<int64_t> whole_size(const Product& product, const Labels& labels) {
  int64_t size = 1;
  for (const int label : labels) {
    const Dim& dim = product.sizes.at(label);
    if (!dim.is_known() || dim.value() == 0) return std::nullopt;
    size *= dim.value();
  }
  return size;
}

/// The dims of a Reshape that leaves the batch as it is and has one for each of these groups of letters; nothing when
/// more than one of them is unknown.
std::optional<Ints> merged_dims(const Product& product, const std::vector<Labels>& groups) {
  Ints dims(product.batch.size(), 0);
  int open = 0;
  for (const Labels& group : groups) {
    const auto size = whole_size(product, group);
    open += !size;
    dims.push_back(size.value_or(-1));
  }
  return open > 1 ? std::nullopt : std::optional(dims);
}

bool is_candidate(const Node& node) { return node.domain.empty() && node.op == "Einsum" && node.inputs.size() == 2; }

class Speller {
 public:
  Speller(Graph& graph, GraphFacts facts) : graph_(graph), facts_(std::move(facts)) {}

  int run() {
    int changes = 0;
    for (const Node& node : std::vector<Node>(graph_.nodes())) {
      const auto product = is_candidate(node) ? product_of(node, facts_) : std::nullopt;
      if (product && spell_out(node, *product))
        ++changes;
      else
        nodes_.push_back(node);
    }
    if (changes > 0) graph_.set_nodes(std::move(nodes_));
    return changes;
  }

 private:
  bool spell_out(const Node& node, const Product& product) {
    const bool rows_are_one = product.rows.size() == 1, columns_are_one = product.columns.size() == 1;
    const auto left_dims = merged_dims(product, {product.rows, product.summed});
    const auto right_dims = merged_dims(product, {product.summed, product.columns});
    std::vector<Labels> apart;
    for (const int label : joined({product.rows, product.columns})) apart.push_back({label});
    const auto result_dims = merged_dims(product, apart);
    const bool sum_is_one = product.summed.size() == 1;
    if ((!(rows_are_one && sum_is_one) && !left_dims) || (!(columns_are_one && sum_is_one) && !right_dims) ||
        (!(rows_are_one && columns_are_one) && !result_dims))
      return false;

    ValueId left =
        turned(node, "_left", node.inputs[0], product.left, joined({product.batch, product.rows, product.summed}));
    if (!rows_are_one || !sum_is_one) left = reshaped(node, "_left", left, *left_dims);
    ValueId right =
        turned(node, "_right", node.inputs[1], product.right, joined({product.batch, product.summed, product.columns}));
    if (!columns_are_one || !sum_is_one) right = reshaped(node, "_right", right, *right_dims);
    ValueId result =
        append_node(graph_, nodes_, {.name = node.name, .op = "MatMul", .version = kOpset, .inputs = {left, right}});
    if (!rows_are_one || !columns_are_one) result = reshaped(node, "_result", result, *result_dims);
    result = turned(node, "_result", result, joined({product.batch, product.rows, product.columns}), product.result);
    // The last node gives what the equation gave.
    nodes_.back().outputs = node.outputs;
    return true;
  }

  /// With its axes in another order; itself where they are in that order.
  ValueId turned(const Node& node, const char* part, ValueId id, const Labels& from, const Labels& to) {
    if (from == to) return id;
    Ints perm;
    for (const int label : to) perm.push_back(std::ranges::find(from, label) - from.begin());
    return append_node(graph_, nodes_,
                       {.name = node.name + part + "_turned",
                        .op = "Transpose",
                        .version = kOpset,
                        .inputs = {id},
                        .attributes = {{"perm", perm}}});
  }

  ValueId reshaped(const Node& node, const char* part, ValueId id, const Ints& dims) {
    const std::string name = node.name + part + "_reshaped";
    const ValueId shape = graph_.add_constant(name + "_dims", Tensor::vector(dims));
    return append_node(graph_, nodes_, {.name = name, .op = "Reshape", .version = kOpset, .inputs = {id, shape}});
  }

  Graph& graph_;
  GraphFacts facts_;
  std::vector<Node> nodes_;
};

}  // namespace

int spell_out_einsum(Graph& graph) {
  if (std::ranges::none_of(graph.nodes(), is_candidate)) return 0;
  try {
    return Speller(graph, infer_graph(graph)).run();
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
