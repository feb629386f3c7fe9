// Chooses kernels by what they do inside of the model. A kernel that is faster alone may lose there: its neighbours
// find the caches in another state, layouts have to be converted around it. So every candidate has to earn its place in
// runs of the whole model.
#pragma once

#include "job/change_effects.h"
#include "job/check_outputs.h"
#include "tune/measure/trial.h"
#include "tune/measure/verdict.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace attune {

/// By task: the kernel that replaces its default.
using Choices = std::map<size_t, tune::Trial>;

/// Whether a session that was made before may be used again. A new one has its weights and buffers elsewhere in memory,
/// which alone can make a percent.
enum class Placement : uint8_t { any, fresh };

struct ModelRunOptions {
  double seconds = 3;
  Placement placement = Placement::any;
};

/// Runs of the model with a choice of kernels and with its defaults, in turn.
struct ModelRun {
  std::string problem;  // why there are none, such as outputs that differ; empty: there are
  OutputCheck outputs;
  SessionComparison whole;
  std::map<size_t, ChangeEffect> effects;  // by task that was changed
  std::optional<double> noise;             // ln: what identical steps seemed to differ by
};

class ModelRunner {
 public:
  virtual ~ModelRunner() = default;
  virtual ModelRun run(const Choices& choices, const ModelRunOptions& options) = 0;
};

/// What was said of a candidate in the model, with all evidence so far.
struct ModelVerdict {
  tune::Verdict verdict = tune::Verdict::unresolved;
  ChangeEffect effect;
  int runs = 0;         // choices that it was part of
  OutputCheck outputs;  // the worst of these runs
  bool is_open() const { return verdict == tune::Verdict::unresolved && runs < 2; }
};

struct ModelJudgeOptions {
  double confidence = 0.95;
  double tie_band = 0.01;     // of a kernel's own time (ln)
  double least_gain = 0.002;  // of the whole model
  std::function<void(size_t task, const tune::Trial&, const ModelVerdict&)> on_verdict = [](auto&&...) {};
  std::function<bool()> has_time = [] { return true; };  // for one run more
};

/// Which kernels to use, and the runs that show it.
struct ModelConclusion {
  Choices choices;                              // none where the whole model was not faster with any
  std::optional<SessionComparison> comparison;  // of the last choice that was run
  std::string problem;
};

class ModelJudge {
 public:
  /// The runner must outlive the judge.
  explicit ModelJudge(ModelRunner& runner, ModelJudgeOptions options = {});

  /// Adds what is known of a candidate from an earlier job.
  void recall(size_t task, const tune::Trial& trial, const ModelVerdict& verdict);
  /// What is known of a candidate; nullptr: nothing.
  const ModelVerdict* find(size_t task, const tune::Trial& trial) const;
  /// The best that was found faster, by task.
  const Choices& accepted() const { return accepted_; }
  /// With a choice of what was judged, over the default: above 1 is faster. By the sums of what the tasks save, as far
  /// as is known by now.
  double expected_ratio(const Choices& choices) const;

  /// Runs the model with the proposals in place of what is accepted for their tasks, and takes over those that are
  /// faster there. Where the run has a problem, nothing was learned.
  ModelRun judge(const Choices& proposals, double seconds);
  /// The same, with the proposals and nothing else.
  ModelRun judge_exactly(const Choices& proposals, double seconds);

  /// For tasks whose winner is in doubt: another kernel that was found faster, and may be the better one as far as is
  /// known; of several the one that ran least.
  Choices rivals() const;
  /// Runs the model with the rivals, then with the winners, which may be others by then. False when there is nothing to
  /// tell apart, or a run had a problem.
  bool tell_rivals_apart(double seconds);

  /// Compares the model with all that is accepted and its defaults, for as long as it seems faster and there is time to
  /// show it. While it is not faster beyond noise, the doubtful half of the choice is dropped.
  ModelConclusion conclude(double seconds_a_run);

  double noise_floor() const { return noise_; }  // ln: the largest seen

 private:
  using Key = std::pair<size_t, tune::Trial>;

  void learn(const Choices& choices, const ModelRun& run);
  tune::Verdict verdict_on(const ChangeEffect& effect, double noise) const;
  void accept_best(size_t task);
  Choices without_doubtful(const Choices& choices) const;
  bool is_faster(const SessionComparison& whole) const;
  /// Whether the model is faster with these, beyond noise and in two placements. Runs go on while that is open.
  bool confirm(const Choices& choices, double seconds_a_run, ModelConclusion& conclusion);

  ModelRunner& runner_;
  ModelJudgeOptions options_;
  std::map<Key, ModelVerdict> verdicts_;
  Choices accepted_;
  double noise_ = 0;
  double run_ms_ = 0;  // of the model by default
};

}  // namespace attune
