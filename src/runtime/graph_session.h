// One graph under execution: the model's, or the body of a control-flow operator. Keeps a plan for each set of shapes.
#pragma once

#include "runtime/planner.h"
#include "runtime/run_state.h"
#include "runtime/session.h"

#include <map>
#include <memory>
#include <mutex>

namespace attune {

class GraphSession {
 public:
  GraphSession(std::shared_ptr<const Graph> graph, std::shared_ptr<const PlanOptions> options);

  const Graph& graph() const { return *graph_; }
  /// Inputs are followed by the captured values. Outputs that are not empty() are written to, the others are made.
  void run(std::span<const Tensor> given, std::span<Tensor> outputs, const RunOptions& options);
  std::shared_ptr<const Plan> plan(std::span<const Tensor> given);
  SessionMemory memory();

 private:
  /// A plan with the run states that were made for it.
  struct Entry {
    std::shared_ptr<const Plan> plan;  // shared: callers may look at it while others run
    RunStatePool states;
    explicit Entry(std::shared_ptr<const Plan> p) : plan(std::move(p)), states(*plan) {}
  };

  Entry& entry_for(std::span<const Tensor> given);
  std::shared_ptr<const Plan> make(std::span<const Tensor> given, bool with_contents);
  void run_dynamic(const Step& step, RunState& state, uint64_t seed);
  bool run_by_provider(const Node& node, std::span<const Tensor* const> inputs, std::vector<Tensor>& outputs);
  GraphSession& body(const Graph& graph);

  std::shared_ptr<const Graph> graph_;          // shared: plans keep it
  std::shared_ptr<const PlanOptions> options_;  // shared with the sessions of bodies
  PlanCache cache_;
  std::mutex mutex_;  // guards everything below
  std::map<std::string, std::unique_ptr<Entry>> entries_;
  bool contents_matter_ = false;  // some shape depends on the contents of a small integer input
  int content_plans_ = 0;
  std::map<const Graph*, std::unique_ptr<GraphSession>> bodies_;
};

}  // namespace attune
