// Names while a graph is imported: which value a name means here, and how a subgraph reaches outer ones.
#pragma once

#include "graph/graph.h"

#include <map>
#include <optional>
#include <string>

namespace attune::onnx_io {

class Scope {
 public:
  /// `parent` is the scope around a subgraph; nullptr for a model's main graph and for a function's body, which see
  /// nothing outside themselves.
  Scope(Graph& graph, Scope* parent, std::string prefix) : graph_(graph), parent_(parent), prefix_(std::move(prefix)) {}

  Graph& graph() { return graph_; }
  const std::string& prefix() const { return prefix_; }

  /// Binds a name to a value of this graph; false when the name is bound here already.
  bool bind(const std::string& name, ValueId id) { return names_.emplace(name, id).second; }

  /// A formal input of a function that the call leaves out.
  void omit(const std::string& name) { names_.emplace(name, kNoValue); }

  /// The value that a name means in this graph itself.
  std::optional<ValueId> find_own(const std::string& name) const {
    const auto own = names_.find(name);
    if (own == names_.end()) return std::nullopt;
    return own->second;
  }

  /// The value that a name means, captured from outside when need be; nothing when no one defines it.
  std::optional<ValueId> find(const std::string& name) {
    if (const auto own = find_own(name)) return own;
    if (parent_ == nullptr) return std::nullopt;
    const auto outer = parent_->find(name);
    if (!outer || *outer == kNoValue) return outer;
    const Value& source = parent_->graph_.value(*outer);
    Value inner;
    inner.name = source.name;
    inner.dtype = source.dtype;
    inner.shape = source.shape;
    const ValueId id = graph_.add_value(std::move(inner));
    graph_.captures.push_back({*outer, id});
    names_.emplace(name, id);
    return id;
  }

 private:
  Graph& graph_;
  Scope* parent_;
  std::string prefix_;  // of values and nodes, inside an expanded function
  std::map<std::string, ValueId> names_;
};

}  // namespace attune::onnx_io
