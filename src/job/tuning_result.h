// What came of a tuning job: per task and for the whole model, with the evidence.
#pragma once

#include "bank/record.h"
#include "job/compare_sessions.h"
#include "job/subgraph.h"
#include "job/task_search.h"
#include "runtime/precision_statement.h"
#include "tune/measure/measurer.h"

#include <optional>
#include <string>
#include <vector>

namespace attune {

struct TaskResult {
  TuningTask task;
  std::string space;  // "onednn 7, generated 1240"
  uint64_t space_size = 0;
  std::vector<TriedConfig> tried;     // the default first
  int measured = 0;                   // in this run; the others were in the bank
  std::optional<tune::Trial> winner;  // judged faster than the default inside of the model, which uses it
  double ratio = 1;                   // default over what was judged there: above 1 is faster
  Interval ratio_interval{1, 1};
  double default_ns = 0;   // of one call, alone
  double roofline_ns = 0;  // of one call; 0: not known
  std::string verdict;     // "faster", "tie", "unresolved", "slower", "not tried", "one implementation"
  /// Milliseconds of one run of the model that the winner saves, by these measurements.
  double saved_ms() const { return winner ? task.run_ms * (1 - 1 / ratio) : 0; }
};

/// A way to run a subgraph that was tried inside of the model, now or in an earlier run.
struct TriedFusion {
  tune::Trial trial;
  std::string verdict;
  double ratio = 1;  // default over this: above 1 is faster
  Interval ratio_interval{1, 1};
  double saved_ms = 0;  // of a run; below 0 it costs
  bool from_bank = false;
};

struct SubgraphResult {
  Subgraph subgraph;
  std::vector<TriedFusion> tried;
  std::optional<tune::Trial> winner;  // the model uses it
  std::string verdict;                // as of tasks
  /// Of the winner, else of what came closest; nullptr: nothing was tried.
  const TriedFusion* best() const;
};

/// What a run of the model takes with the kernels that have won in it so far.
struct ConvergencePoint {
  double seconds = 0;
  double run_ms = 0;
};

enum class JobEnd : uint8_t { finished, budget_spent, interrupted };

struct TuningResult {
  std::string model;
  std::vector<TaskResult> tasks;                        // those that take the most time first
  std::vector<SubgraphResult> subgraphs;                // likewise
  std::vector<double> before_step_ms, after_step_ms;    // of the plans' steps
  std::shared_ptr<const Plan> before_plan, after_plan;  // shared: of sessions
  std::optional<SessionComparison> comparison;          // of the last choice of kernels; nothing where there was none
  std::vector<ConvergencePoint> convergence;
  std::optional<PrecisionStatement> precision;  // where it was chosen first
  bool applied = false;                         // the tuned plan is the one to use
  std::string conclusion;                       // one sentence for people
  std::string layouts;                          // the same of the layouts; empty: there was nothing to choose
  JobEnd end = JobEnd::finished;
  double seconds = 0;
  int64_t trials = 0, failed_trials = 0, reused_trials = 0;
  double noise_floor = 0;       // ln
  tune::CeilingRates ceilings;  // of the machine; empty where nothing was measured
  std::vector<Record> records;  // of this run and those of the bank that it used
};

/// What a job ends with.
struct TuningOutcome {
  TuningResult result;
  Session session;  // the one to use: tuned when it is faster, the default else
};

}  // namespace attune
