#include "rewrite/merge_duplicates.h"

#include "ops/node_traits.h"
#include "rewrite/uses.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

namespace attune::rewrite {
namespace {

// Exporters repeat axes, shapes and numbers; larger constants that are equal share their storage already.
constexpr int64_t kSmallBytes = 4096;

bool same_tensor(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  if (a.size_bytes() > kSmallBytes) return !a.reloadable() && !b.reloadable() && a.bytes() == b.bytes();
  return std::memcmp(a.bytes(), b.bytes(), static_cast<size_t>(a.size_bytes())) == 0;
}

bool same_tensors(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_tensor);
}

bool same_attribute(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&]<class T>(const T& value) {
        const T& other = std::get<T>(b);
        if constexpr (std::is_same_v<T, Tensor>)
          return same_tensor(value, other);
        else if constexpr (std::is_same_v<T, std::vector<Tensor>>)
          return same_tensors(value, other);
        else
          return value == other;
      },
      a);
}

bool same_attributes(const Attributes& a, const Attributes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && same_attribute(x.second, y.second);
  });
}

class Merger {
 public:
  explicit Merger(Graph& graph) : graph_(graph), instead_(graph.values().size()) {
    for (size_t i = 0; i < instead_.size(); ++i) instead_[i] = static_cast<ValueId>(i);
    for (const ValueId id : graph.outputs) outputs_.push_back(id);
    join_constants();
  }

  int run() {
    std::vector<bool> removed(graph_.nodes().size(), false);
    int changes = 0;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      if (has_subgraph(node) || is_random(node) || node.inputs.empty()) continue;
      Key key{node.domain, node.op, node.version, inputs_of(node)};
      auto& seen = nodes_[std::move(key)];
      const auto twin = std::find_if(seen.begin(), seen.end(), [&](size_t at) {
        return same_attributes(graph_.nodes()[at].attributes, node.attributes) && serves(graph_.nodes()[at], node);
      });
      if (twin == seen.end()) {
        seen.push_back(i);
        continue;
      }
      for (size_t o = 0; o < node.outputs.size(); ++o)
        if (node.outputs[o] != kNoValue)
          instead_[static_cast<size_t>(node.outputs[o])] = graph_.nodes()[*twin].outputs[o];
      removed[i] = true;
      ++changes;
    }
    if (changes == 0) return 0;
    for (size_t id = 0; id < instead_.size(); ++id)
      if (const bool made = graph_.values()[id].producer != kNoNode; made && instead_[id] != static_cast<ValueId>(id))
        redirect(graph_, static_cast<ValueId>(id), instead_[id]);
    erase_nodes(graph_, removed);
    return changes;
  }

 private:
  using Key = std::tuple<std::string, std::string, int, std::vector<ValueId>>;

  /// Equal small constants count as one operand; what nodes read stays as it is.
  void join_constants() {
    std::map<std::pair<DType, Dims>, std::vector<ValueId>> seen;
    for (size_t i = 0; i < instead_.size(); ++i) {
      const Value& value = graph_.values()[i];
      if (!value.is_constant()) continue;
      auto& alike = seen[{value.constant.dtype(), value.constant.dims()}];
      const auto first = std::find_if(alike.begin(), alike.end(), [&](ValueId id) {
        return same_tensor(graph_.value(id).constant, value.constant);
      });
      if (first != alike.end())
        instead_[i] = *first;
      else
        alike.push_back(static_cast<ValueId>(i));
    }
  }

  std::vector<ValueId> inputs_of(const Node& node) const {
    std::vector<ValueId> inputs = node.inputs;
    for (ValueId& id : inputs)
      if (id != kNoValue) id = instead_[static_cast<size_t>(id)];
    return inputs;
  }

  /// Whether `first` makes everything that `second` does, and no output would lose its name.
  bool serves(const Node& first, const Node& second) const {
    if (first.outputs.size() != second.outputs.size()) return false;
    for (size_t o = 0; o < second.outputs.size(); ++o) {
      if ((first.outputs[o] == kNoValue) != (second.outputs[o] == kNoValue)) return false;
      if (std::find(outputs_.begin(), outputs_.end(), second.outputs[o]) != outputs_.end()) return false;
    }
    return true;
  }

  Graph& graph_;
  std::vector<ValueId> instead_;  // by value: the first that is the same
  std::vector<ValueId> outputs_;
  std::map<Key, std::vector<size_t>> nodes_;
};

}  // namespace

int merge_duplicates(Graph& graph) { return Merger(graph).run(); }

}  // namespace attune::rewrite
