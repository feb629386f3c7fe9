// Runs a model: rewritten once, planned for each set of input shapes that comes along, executed on one thread pool.
#pragma once

#include "graph/graph.h"
#include "kernel/workload.h"
#include "rewrite/pipeline.h"
#include "runtime/executor.h"
#include "runtime/plan.h"
#include "runtime/planner.h"
#include "runtime/precision_statement.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace attune {

class GraphSession;

struct SessionOptions {
  std::vector<std::string> providers;  // by name, in order of preference; empty: all
  NumericMode mode = NumericMode::high_precision;
  std::vector<std::string> mode_operators;  // that `mode` is for, others being high_precision; empty: all
  DType dtype = DType::f32;                 // bf16: compute products of f32 values in bf16, see rewrite/use_bf16.h
  LayoutChoice layout = LayoutChoice::automatic;
  std::map<std::string, Layout, std::less<>> node_layouts;  // of convolutions, by name: instead of that
  int64_t memory_limit_bytes = 0;                           // 0: none
  int threads = 0;                                          // 0: thread_count() of whoever calls
  bool pin_workers = false;                                 // keep worker threads on cores of their own
  bool rewrite = true;                                      // fuse and fold before planning,
  std::vector<std::string> without_passes;                  // but not by these,
  std::map<std::string, rewrite::LeftAlone, std::less<>>
      left_alone;                                                   // nor, by pass, these nodes; see rewrite/pipeline.h
  std::map<std::string, rewrite::AskedFor, std::less<>> asked_for;  // and, by pass that fuses on request, these
  RecordedSteps recorded;                                           // of a saved plan; see plan_file.h
  std::shared_ptr<const Advisor> advisor;  // shared: several sessions may ask one; nullptr: rules choose kernels
};

/// What a session holds on to between runs; it only grows.
struct SessionMemory {
  int64_t plans = 0;
  int64_t constant_bytes = 0;       // packed and plain, each storage once
  int64_t largest_arena_bytes = 0;  // of one run
  int64_t held_arena_bytes = 0;     // of all runs that were ever under way at once, for all plans
};

class Session {
 public:
  /// Checks that every operator is supported before anything runs.
  explicit Session(Graph graph, SessionOptions options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  /// One tensor for each graph input, in order; returns one for each output. Safe to call from several threads at once.
  std::vector<Tensor> run(std::span<const Tensor> inputs, const RunOptions& options = {}) const;

  /// The same, into the caller's memory: an entry that is not empty() is written to, the others are allocated. Throws
  /// UserError when one does not have the output's dtype and dims.
  void run_into(std::span<const Tensor> inputs, std::span<Tensor> outputs, const RunOptions& options = {}) const;

  /// The plan that run() uses for inputs of these types; made when there is none yet.
  std::shared_ptr<const Plan> plan(std::span<const Tensor> inputs) const;
  const Graph& graph() const;  // as rewritten
  /// What the passes did to the graph when the session was made; empty where it was not rewritten.
  const std::vector<rewrite::PassResult>& rewrites() const { return rewrites_; }
  SessionMemory memory() const;

  /// Where the precision was chosen under an accuracy budget: what is to be said of it. Whoever chose it states it.
  const std::optional<PrecisionStatement>& precision() const { return precision_; }
  void state_precision(PrecisionStatement statement) { precision_ = std::move(statement); }

 private:
  int threads_ = 0;
  bool pin_workers_ = false;
  std::vector<rewrite::PassResult> rewrites_;
  std::unique_ptr<GraphSession> session_;
  std::optional<PrecisionStatement> precision_;
};

}  // namespace attune
