// Finds the products of a model that may compute in bf16 within an accuracy budget, and whether that is faster.
#pragma once

#include "job/compare_sessions.h"
#include "job/job_clock.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace attune {

/// Regions by number (rewrite/bf16_regions.h): these compute in bf16, all others in f32.
using Lowered = std::set<size_t>;

/// Runs of the model in f32 and with some regions lowered, in turn.
struct LoweredRuns {
  SessionComparison whole;
  std::vector<double> saved_ms;  // by region: what lowering took off a run, below 0 where it is slower
};

enum class InputChoice : uint8_t { first, all };

/// What the search asks of the model.
class PrecisionTrials {
 public:
  virtual ~PrecisionTrials() = default;
  virtual size_t region_count() const = 0;
  /// See output_error.h; on the inputs that the choice is made on.
  virtual double error(const Lowered& lowered, InputChoice inputs) = 0;
  /// On inputs that had no part in the choice so far; 0 where there are none. From then on they are among the inputs
  /// that error() is about.
  virtual double new_error(const Lowered& lowered) = 0;
  virtual LoweredRuns compare(const Lowered& lowered, double seconds) = 0;
};

struct PrecisionSearchOptions {
  double accuracy_budget = 0.01;
  double compare_s = 3;  // of a comparison that decides
  std::function<void(const std::string& what)> on_progress = [](const std::string&) {};
};

struct PrecisionDecision {
  Lowered lowered;           // none: f32 is kept
  double error = 0;          // the largest measured with these, new inputs included
  std::string reason;        // in words
  SessionComparison runs;    // of the last comparison that decided; none where it did not come to one
  bool interrupted = false;  // before there was a decision
};

class PrecisionSearch {
 public:
  /// All must outlive the search.
  PrecisionSearch(PrecisionTrials& trials, const JobClock& clock, PrecisionSearchOptions options);
  /// The trials' last question is about what is decided on, unless f32 is kept.
  PrecisionDecision run();

 private:
  struct Group {
    Lowered regions;
    double error = 0;  // alone, on the first input
    double saved_ms = 0;
  };

  /// What is lowered when the error must not exceed `target`; nothing: nothing can be.
  Lowered find(double target);
  Lowered find_all();
  void measure_groups();
  Lowered prefix(size_t count) const;
  Lowered largest_prefix(double target);
  /// Adds as much of the regions as fits, by halves; takes from the attempts.
  void extend(Lowered& lowered, const Lowered& regions, double target, int& attempts);
  double error(const Lowered& lowered);
  PrecisionDecision keep_f32(std::string reason) const;
  PrecisionDecision decide(const Lowered& lowered, double error);
  Lowered gaining() const;

  PrecisionTrials& trials_;
  const JobClock& clock_;
  PrecisionSearchOptions options_;
  Lowered all_;
  double trial_s_ = 0;         // what a question about an error takes
  LoweredRuns all_runs_;       // with everything lowered
  bool has_groups_ = false;    // were measured
  std::vector<Group> groups_;  // most time saved for the error first
  std::map<Lowered, double> errors_;
};

}  // namespace attune
