// The ordered list of passes, and running it.
#pragma once

#include "rewrite/pass.h"

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attune::rewrite {

struct PassEntry {
  std::string_view name;
  std::string_view summary;
  Pass pass;
  bool on_request = false;  // changes results, so it runs only when switched on
};

std::span<const PassEntry> passes();

struct PassResult {
  std::string_view name;
  int changes = 0;
  Places places = {};  // of a pass that fuses: those of the graph itself, without its subgraphs
  double milliseconds = 0;
  int64_t nodes_after = 0;
};

struct PipelineOptions {
  // By name; unknown names are an error.
  std::set<std::string, std::less<>> switched_off = {};
  std::set<std::string, std::less<>> switched_on = {};  // of those that run on request
  /// By name of the pass, which has to be one that takes such a list: nodes to leave alone.
  std::map<std::string, LeftAlone, std::less<>> left_alone = {};
  /// By name of the pass, which has to be one that fuses on request: anchors to fuse.
  std::map<std::string, AskedFor, std::less<>> asked_for = {};
  std::function<void(const PassEntry&, const PassResult&)> after_pass = {};  // called when one is done and verified
};

/// Runs every pass in order, on subgraphs too, and verifies the graph after each.
std::vector<PassResult> run_pipeline(Graph& graph, const PipelineOptions& options = {});

}  // namespace attune::rewrite
