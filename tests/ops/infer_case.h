// Builds a small graph and infers it, for tests of symbolic shape arithmetic.
#pragma once

#include "graph/graph.h"
#include "ops/infer_graph.h"

#include <gtest/gtest.h>

namespace attune::test {

class InferCase {
 public:
  explicit InferCase(int version = 17) : version_(version) {}

  ValueId input(const std::string& name, DType dtype, std::optional<Shape> shape) {
    return graph_.add_input(name, dtype, std::move(shape));
  }
  ValueId constant(const std::vector<int64_t>& values) { return graph_.add_constant("", Tensor::vector(values)); }
  ValueId scalar(int64_t value) { return graph_.add_constant("", Tensor::scalar<int64_t>(value)); }
  ValueId op(const std::string& name, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return ops(name, std::move(inputs), 1, std::move(attributes))[0];
  }
  std::vector<ValueId> ops(const std::string& name, std::vector<ValueId> inputs, int outputs,
                           Attributes attributes = {}) {
    std::vector<ValueId> results;
    for (int i = 0; i < outputs; ++i) results.push_back(graph_.add_value({}));
    graph_.add_node({.name = "",
                     .domain = "",
                     .op = name,
                     .version = version_,
                     .inputs = std::move(inputs),
                     .outputs = results,
                     .attributes = std::move(attributes)});
    return results;
  }

  std::string shape(ValueId id) const { return to_text(infer_graph(graph_).types[static_cast<size_t>(id)].shape); }
  /// Contents as "N,3,?"; "none" when nothing is known.
  std::string content(ValueId id) const {
    const GraphFacts facts = infer_graph(graph_);
    const auto& content = facts.contents[static_cast<size_t>(id)];
    if (!content) return "none";
    std::string text;
    for (const Dim& dim : *content) text += (text.empty() ? "" : ",") + dim.text();
    return text;
  }

 private:
  int version_;
  Graph graph_;
};

inline Dim sym(const std::string& name) { return Dim::symbol(name); }

}  // namespace attune::test
