#include "kernel/workload_count.h"

#include "ops/registry.h"

#include <algorithm>
#include <map>

namespace attune {
namespace {

std::string op_text(const Node& node) { return node.domain.empty() ? node.op : node.domain + "::" + node.op; }

std::string type_text(const ValueType& type) {
  return fmt::format("{}[{}]", dtype_name(type.dtype), to_text(type.shape));
}

class Extractor {
 public:
  std::vector<WorkloadCount> run(const Graph& graph, const GraphFacts& facts) {
    visit(graph, facts);
    return std::move(workloads_);
  }

 private:
  void visit(const Graph& graph, const GraphFacts& facts) {
    for (const Node& node : graph.nodes()) {
      add(graph, facts, node);
      for (const auto& [name, attribute] : node.attributes)
        if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute))
          visit(**body, body_facts(**body, facts));
    }
  }

  /// Types inside a body as far as its captures and own declarations tell.
  static GraphFacts body_facts(const Graph& body, const GraphFacts& outer) {
    Graph typed = body;
    for (const Capture& capture : typed.captures) {
      const ValueType& type = outer.types[static_cast<size_t>(capture.outer)];
      typed.value(capture.inner).dtype = type.dtype;
      typed.value(capture.inner).shape = type.shape;
    }
    try {
      return infer_graph(typed);
    } catch (const UserError&) {
      GraphFacts facts;  // a branch for other shapes: only its operators are known
      facts.types.resize(body.values().size());
      facts.constants.resize(body.values().size());
      facts.contents.resize(body.values().size());
      return facts;
    }
  }

  void add(const Graph& graph, const GraphFacts& facts, const Node& node) {
    WorkloadCount workload;
    workload.op = op_text(node);
    const auto join = [&](const std::vector<ValueId>& ids, std::string& out) {
      for (size_t i = 0; i < ids.size(); ++i) {
        out += i ? ", " : "";
        if (ids[i] == kNoValue) {
          out += "_";
          continue;
        }
        const ValueType& type = facts.types[static_cast<size_t>(ids[i])];
        workload.shapes_known &= concrete(type.shape).has_value();
        out += type_text(type) + (graph.value(ids[i]).is_constant() ? "*" : "");
        const Layout layout = graph.value(ids[i]).layout;
        if (layout != Layout::plain) out += "@" + std::string(layout_name(layout));
      }
    };
    join(node.inputs, workload.inputs);
    join(node.outputs, workload.outputs);
    workload.attributes = attributes_text(node.attributes);
    workload.key = fmt::format("{}@{}({}) -> ({}) {{{}}}", workload.op, node.version, workload.inputs, workload.outputs,
                               workload.attributes);
    const auto [found, is_new] = index_.emplace(workload.key, workloads_.size());
    if (is_new) {
      workload.cost = node_cost(facts, node);
      workloads_.push_back(std::move(workload));
    }
    workloads_[found->second].nodes.push_back(node.name);
  }

  std::vector<WorkloadCount> workloads_;
  std::map<std::string, size_t> index_;
};

}  // namespace

Cost node_cost(const GraphFacts& facts, const Node& node) {
  Cost cost;
  bool known = true;
  const auto collect = [&](const std::vector<ValueId>& ids) {
    std::vector<ValueType> types;
    for (const ValueId id : ids) {
      types.push_back(id == kNoValue ? ValueType{} : facts.types[static_cast<size_t>(id)]);
      if (id == kNoValue) continue;
      const auto dims = concrete(types.back().shape);
      known &= dims.has_value();
      if (dims)
        cost.bytes += static_cast<double>(byte_size(types.back().dtype, checked_count(*dims).value_or(0)).value_or(0));
    }
    return types;
  };
  const auto inputs = collect(node.inputs);
  const auto outputs = collect(node.outputs);
  const OpDef& op = require_op(node);
  if (known && op.flops != nullptr) cost.flops = op.flops(CostContext(node, inputs, outputs));
  return cost;
}

std::vector<WorkloadCount> count_workloads(const Graph& graph, const GraphFacts& facts) {
  return Extractor().run(graph, facts);
}

}  // namespace attune
