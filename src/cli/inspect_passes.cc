#include "cli/inspect_passes.h"

#include "rewrite/pipeline.h"

#include <fmt/format.h>

#include <map>

namespace attune::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Operators by the names of their nodes; those of bodies follow their owner's name.
using Operators = std::map<std::string, std::string>;

void collect(const Graph& graph, const std::string& prefix, Operators& found) {
  for (const Node& node : graph.nodes()) {
    found[prefix + node.name] = node.domain.empty() ? node.op : node.domain + "::" + node.op;
    for (const auto& [name, attribute] : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute))
        collect(**body, prefix + node.name + "/" + name + "/", found);
  }
}

Operators operators_of(const Graph& graph) {
  Operators found;
  collect(graph, "", found);
  return found;
}

struct Difference {
  std::string change, node, op;
};

std::vector<Difference> differences(const Operators& before, const Operators& after) {
  std::vector<Difference> list;
  for (const auto& [name, op] : before) {
    const auto now = after.find(name);
    if (now == after.end())
      list.push_back({"removed", name, op});
    else if (now->second != op)
      list.push_back({"became", name, now->second});
  }
  for (const auto& [name, op] : after)
    if (!before.contains(name)) list.push_back({"added", name, op});
  return list;
}

}  // namespace

Report inspect_passes(Graph& graph, const PassesOptions& options) {
  Table passes{"passes",
               {{"pass"},
                {"changes", Align::right},
                {"nodes before", Align::right},
                {"after", Align::right},
                {"ms", Align::right},
                {"what it does"}},
               {}};
  Table nodes{"nodes", {{"pass"}, {"change"}, {"node"}, {"operator"}}, {}};
  Report report;
  report.json["passes"] = Json::array();
  Operators before = operators_of(graph);
  rewrite::PipelineOptions pipeline;
  pipeline.after_pass = [&](const rewrite::PassEntry& entry, const rewrite::PassResult& result) {
    Operators after = operators_of(graph);
    passes.rows.push_back({std::string(entry.name), std::to_string(result.changes), std::to_string(before.size()),
                           std::to_string(after.size()), fmt::format("{:.2f}", result.milliseconds),
                           std::string(entry.summary)});
    Json changed = Json::array();
    for (const Difference& difference : differences(before, after)) {
      nodes.rows.push_back({std::string(entry.name), difference.change, difference.node, difference.op});
      changed.push_back({{"change", difference.change}, {"node", difference.node}, {"op", difference.op}});
    }
    report.json["passes"].push_back({{"name", entry.name},
                                     {"summary", entry.summary},
                                     {"changes", result.changes},
                                     {"nodes_before", before.size()},
                                     {"nodes_after", after.size()},
                                     {"ms", result.milliseconds},
                                     {"nodes", std::move(changed)}});
    before = std::move(after);
  };
  rewrite::run_pipeline(graph, pipeline);
  report.tables.push_back(std::move(passes));
  if (options.nodes) report.tables.push_back(std::move(nodes));
  return report;
}

}  // namespace attune::cli
