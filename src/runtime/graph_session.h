// One graph under execution: the model's, or the body of a control-flow operator. Keeps a plan for each set of shapes.
#pragma once

#include "runtime/open_shapes.h"
#include "runtime/planner.h"
#include "runtime/run_state.h"
#include "runtime/session.h"

#include <map>
#include <memory>
#include <mutex>

namespace attune {

class GraphSession {
 public:
  /// Who decides the shapes that come along: callers, who mostly use a few, or the data, which may bring new ones every
  /// time.
  enum class ShapesBy { callers, data };

  GraphSession(std::shared_ptr<const Graph> graph, std::shared_ptr<const PlanOptions> options,
               ShapesBy shapes = ShapesBy::callers);

  const Graph& graph() const { return *graph_; }
  /// Inputs are followed by the captured values. Outputs that are not empty() are written to, the others are made.
  void run(std::span<const Tensor> given, std::span<Tensor> outputs, const RunOptions& options);
  /// Of all parts, one after the other, where the graph is divided: to look at and to save.
  std::shared_ptr<const Plan> plan(std::span<const Tensor> given);
  SessionMemory memory();

 private:
  /// A graph divided where the data decide shapes, with a session for what follows.
  struct Division {
    DividedGraph parts;
    std::unique_ptr<GraphSession> tail;
  };
  /// A plan with the run states that were made for it.
  struct Entry {
    std::shared_ptr<const Plan> plan;  // shared: callers may look at it while others run
    Division* division;                // nullptr: the plan is all; else it is the first part's
    RunStatePool states;
    Entry(std::shared_ptr<const Plan> p, Division* d) : plan(std::move(p)), division(d), states(*plan) {}
  };
  struct Made {
    std::shared_ptr<const Plan> plan;  // shared as in Entry
    Division* division = nullptr;
    int64_t open_steps = 0;  // that wait for shapes
  };
  /// What planning is told of the given tensors.
  enum class Known { dtypes, shapes, small_contents };

  Entry& entry_for(std::span<const Tensor> given);
  void add_memory(SessionMemory& memory, std::map<const std::byte*, int64_t>& constants);
  Made make(std::span<const Tensor> given, Known known);
  /// The graph with the branches in place whose conditions these facts tell; the facts become those of the result.
  std::shared_ptr<const Graph> with_known_branches(GraphFacts& facts, const InferOptions& infer);
  Division& division_for(const Graph& graph, DividedGraph parts);
  /// Runs the entry's plan and leaves its outputs, which are the graph's or those of its first part.
  void run_plan(Entry& entry, std::span<const Tensor> given, std::span<Tensor> outputs, const RunOptions& options);
  /// What the second part of a divided graph is given, its first part having run.
  std::vector<Tensor> run_head(Entry& entry, std::span<const Tensor> given, std::span<Tensor> outputs,
                               const RunOptions& options);
  void run_dynamic(const Step& step, RunState& state, uint64_t seed);
  bool run_by_provider(const Node& node, std::span<const Tensor* const> inputs, std::vector<Tensor>& outputs);
  GraphSession& body(const Graph& graph);

  std::shared_ptr<const Graph> graph_;          // shared: plans keep it
  std::shared_ptr<const PlanOptions> options_;  // shared with the sessions of bodies
  ShapesBy shapes_;
  PlanCache cache_;
  std::mutex mutex_;  // guards everything below
  std::map<std::string, std::unique_ptr<Entry>> entries_;
  std::map<std::string, std::shared_ptr<const Graph>> inlined_;  // by the branches taken; shared: plans keep them
  std::map<std::pair<const Graph*, std::vector<bool>>, std::unique_ptr<Division>> divisions_;  // by their second parts
  bool contents_matter_ = false;  // some shape depends on the contents of a small integer input
  int content_plans_ = 0;
  std::map<const Graph*, std::unique_ptr<GraphSession>> bodies_;
};

}  // namespace attune
