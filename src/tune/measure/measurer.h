// Measures kernels in a child process: verified first, then timed beside an anchor. Candidates that crash, hang or lie
// cost one trial each.
//
//   Measurer measurer(MeasurerOptions{});
//   MeasureTask task{workload, {}};
//   Measurement result = measurer.measure(task, {"onednn", default_config}, candidates, ladder);
//   Finals finals = measurer.finals(task, {"onednn", default_config}, best_three, {});
#pragma once

#include "kernel/parse_workload.h"
#include "tune/measure/ladder.h"
#include "tune/measure/roofline.h"
#include "tune/measure/trial.h"
#include "tune/measure/verdict.h"

#include <chrono>
#include <functional>
#include <memory>
#include <span>

namespace attune::tune {

struct MeasureTimeouts {
  std::chrono::milliseconds start{20'000};      // of the worker
  std::chrono::milliseconds reference{60'000};  // inputs and reference of a workload
  std::chrono::milliseconds build{30'000};
  std::chrono::milliseconds verify{20'000};
  std::chrono::milliseconds time{20'000};
};

struct MeasurerOptions {
  std::string worker_program;  // empty: see worker_program.h
  int threads = 0;             // of the worker's pool; 0: thread_count()
  bool pin_workers = false;
  bool cold_weights = true;         // constants come from beyond the second-level cache, as in a model; see instance.h
  int64_t memory_limit_bytes = -1;  // of the worker, beyond its own; 0: none, -1: most of what the machine has free
  uint64_t seed = 1;                // of inputs and orders
  MeasureTimeouts timeouts;
  CeilingRates ceilings;   // empty: the worker measures them first, in about a second
  int ceiling_doubts = 4;  // how often they are measured again before a time below the roofline is called implausible
};

/// A workload, and what its inputs hold where that is not free (shapes, axes, indices); empty: all made up.
struct MeasureTask {
  Workload workload;
  std::vector<Contents> contents;
};

struct MeasureControl {
  std::function<void(size_t index, const TrialResult&)> on_result;  // after each, so that it can be saved at once
  std::function<bool()> should_stop;                                // asked between trials; may be empty
};

struct Measurement {
  TrialResult anchor;               // verified, and timed against a copy of itself
  std::vector<TrialResult> trials;  // of the candidates, in order; fewer when it was stopped or the anchor failed
};

inline constexpr size_t kMostFinalists = 12;

struct FinalsOptions {
  int processes = 3;      // one after the other: what memory a process gets is part of the noise
  int least_rounds = 15;  // undisturbed ones, in each
  int most_rounds = 101;  // in each
  double min_sample_us = 200;
  double confidence = 0.95;  // over all finalists together: each comparison gets its share
  double tie_band = 0.01;
  std::chrono::milliseconds budget{5000};  // no further rounds begin after this, whatever is decided by then
};

struct Finalist {
  Trial trial;
  Outcome outcome = Outcome::ok;  // of the finals
  std::string message;
  Judgement judgement;           // against the default
  RatiosByProcess log_ratios;    // of the rounds that count
  double time_ns = 0;            // median
  std::vector<double> times_ns;  // of the same rounds, process after process
};

struct Finals {
  std::vector<Finalist> finalists;  // in the order given
  double default_ns = 0;
  double noise_floor = 0;  // ln: of these rounds, by the hidden duplicate of the default
  Judgement duplicate;     // what was said of the duplicate; anything but a tie is a false alarm
  int rounds = 0;
  int disturbed_rounds = 0;  // during which the scheduler took a thread away; not counted where enough others are left
  std::string problem;       // why there are no rounds; empty: there are
};

struct MeasurerCounts {
  int64_t trials = 0;
  int64_t failed_trials = 0;
  int64_t workers_started = 0;
};

/// Not thread-safe: nothing may be measured beside something else. The thread that makes it should outlive it.
class Measurer {
 public:
  /// Starts the worker. Throws UserError when there is no program to start, or one of another build.
  explicit Measurer(MeasurerOptions options = {});
  ~Measurer();
  Measurer(Measurer&&) noexcept;
  Measurer& operator=(Measurer&&) noexcept;

  /// Builds and verifies the anchor, then each candidate; times those that are right in pairs with the anchor, as far
  /// as the ladder takes them. The best ratio of the ladder follows the candidates as they come.
  Measurement measure(const MeasureTask& task, const Trial& anchor, std::span<const Trial> candidates,
                      LadderOptions ladder = {}, const MeasureControl& control = {});

  /// Interleaved rounds of the finalists, the default and a hidden duplicate of the default, in several processes,
  /// until every comparison is decided or the budget is spent. Nothing that was measured before counts.
  Finals finals(const MeasureTask& task, const Trial& default_trial, std::span<const Trial> finalists,
                const FinalsOptions& options = {});

  /// What identical code seemed to differ by in this session (ln): the 90th percentile over all finals so far; nothing
  /// before the first.
  std::optional<double> noise_floor() const;
  MeasurerCounts counts() const;
  const CeilingRates& ceilings();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attune::tune
