#include "onnx/sort_nodes.h"

#include "base/error.h"

#include <queue>
#include <set>
#include <unordered_map>

namespace attune::onnx_io {
namespace {

using Producers = std::unordered_map<std::string, size_t>;  // value name → node index

/// Values of the enclosing graph that a subgraph reads count as inputs of the node that holds it.
void collect_reads(const onnx::NodeProto& node, const Producers& producers, std::set<size_t>& reads) {
  const auto add = [&](const std::string& name) {
    const auto found = producers.find(name);
    if (found != producers.end()) reads.insert(found->second);
  };
  for (const std::string& name : node.input()) add(name);
  for (const auto& attribute : node.attribute()) {
    const auto visit = [&](const onnx::GraphProto& graph) {
      for (const auto& inner : graph.node()) collect_reads(inner, producers, reads);
      for (const auto& output : graph.output()) add(output.name());
    };
    if (attribute.has_g()) visit(attribute.g());
    for (const auto& graph : attribute.graphs()) visit(graph);
  }
}

std::string cycle_text(const NodeList& nodes, const std::vector<int>& waiting) {
  std::string text;
  int named = 0;
  for (int i = 0; i < nodes.size(); ++i) {
    if (waiting[static_cast<size_t>(i)] == 0) continue;
    if (named == 5) return text + ", …";
    text += (named++ ? ", '" : "'") + node_label(nodes[i]) + "'";
  }
  return text;
}

}  // namespace

std::string node_label(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  return node.op_type() + (node.output_size() > 0 ? ":" + node.output(0) : "");
}

std::vector<const onnx::NodeProto*> sorted_nodes(const NodeList& nodes, const std::string& where) {
  Producers producers;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string& name : nodes[i].output())
      if (!name.empty() && !producers.emplace(name, static_cast<size_t>(i)).second)
        throw UserError("value '{}' is produced twice in {} (second time by node '{}')", name, where,
                        node_label(nodes[i]));

  const auto count = static_cast<size_t>(nodes.size());
  std::vector<std::vector<size_t>> readers(count);
  std::vector<int> waiting(count, 0);  // producers still to come
  for (size_t i = 0; i < count; ++i) {
    std::set<size_t> reads;
    collect_reads(nodes[static_cast<int>(i)], producers, reads);
    for (const size_t producer : reads) {
      readers[producer].push_back(i);
      ++waiting[i];
    }
  }
  // The smallest ready index first, which reproduces an order that is already right.
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < count; ++i)
    if (waiting[i] == 0) ready.push(i);
  std::vector<const onnx::NodeProto*> sorted;
  while (!ready.empty()) {
    const size_t i = ready.top();
    ready.pop();
    sorted.push_back(&nodes[static_cast<int>(i)]);
    for (const size_t reader : readers[i])
      if (--waiting[reader] == 0) ready.push(reader);
  }
  if (sorted.size() != count) throw UserError("{} has a cycle through {}", where, cycle_text(nodes, waiting));
  return sorted;
}

}  // namespace attune::onnx_io
