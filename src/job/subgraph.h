// What subgraph tuning decides on: the places where a pass made one operator of several, equal ones together, since
// they get the same answer.
#pragma once

#include "job/plan_regions.h"
#include "rewrite/pipeline.h"
#include "runtime/session.h"
#include "tune/measure/trial.h"

#include <map>
#include <span>

namespace attune {

/// A way to run a subgraph that is not the default.
struct FusionCandidate {
  tune::Trial trial;  // what runs it by default, and in words what is fused and what is left apart
  size_t kept = 0;    // parts that stay fused with the anchor
};

struct Subgraph {
  std::string pass;  // that fuses it
  /// "subgraph@fuse_epilogues attune::FusedConv@1(…)": operators, attributes, shapes, dtypes and layouts of what it is
  /// fused into, which are the same wherever it occurs.
  std::string key;
  std::string whole;        // the operators: "Conv + Add + Relu"
  rewrite::Places places;   // at least one
  bool on_request = false;  // left apart by default, since the pass fuses on request
  tune::Trial by_default;
  std::vector<FusionCandidate> candidates;
  double run_ms = 0;  // of all places together, in one run of the model

  NodeNames names() const;  // of all nodes that it is made of
  const FusionCandidate* find(const tune::Trial& trial) const;
};

/// Those of a session's plan, the ones that take the most time first; `step_ms` has the times of its steps. Places
/// whose shapes are not known are left out.
std::vector<Subgraph> find_subgraphs(std::span<const rewrite::PassResult> rewrites, const Plan& plan,
                                     std::span<const double> step_ms);

/// Tells the passes what to leave alone or to fuse, so that they end up with the candidate.
void choose(const Subgraph& subgraph, const FusionCandidate& candidate, SessionOptions& options);

/// A record of a subgraph in a sentence; empty for a record of anything else.
std::string subgraph_sentence(std::string_view workload, const Config& config);

}  // namespace attune
