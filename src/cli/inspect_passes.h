// attune inspect --passes: what each pass makes of a model.
#pragma once

#include "cli/output.h"
#include "graph/graph.h"

namespace attune::cli {

struct PassesOptions {
  bool nodes = false;  // a table of the nodes that came and went as well
};

/// Runs the passes over the graph, as a session would. The JSON form has the nodes of every pass.
Report inspect_passes(Graph& graph, const PassesOptions& options);

}  // namespace attune::cli
