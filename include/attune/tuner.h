// Tunes a computation of yours: declare what can be chosen, how it is built or timed, and the shapes that matter;
// search; keep the record; apply it later. docs/api.md has a whole program.
#pragma once

#include <attune/error.h>
#include <attune/export.h>
#include <attune/space.h>
#include <attune/tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace attune {
inline namespace v1 {

/// The computation for one shape and configuration, with data of its own.
struct Candidate {
  std::function<void()> run;           // one call of it
  std::function<std::string()> check;  // after a call: what is wrong with the result, or nothing
};

struct Computation {
  std::string name;               // "layernorm"
  std::string version;            // of your code; records of another version do not apply
  std::vector<std::string> dims;  // what the numbers of a shape are: {"rows", "columns"}
  std::function<Space(const Shape&)> space;
  /// Set one of these. `build` makes what attune then checks and times, beside the default, in samples of many calls;
  /// `evaluate` returns the nanoseconds of one call, timed by you. Both throw (anything that is a std::exception) where
  /// a configuration cannot be.
  std::function<Candidate(const Shape&, const Config&)> build;
  std::function<double(const Shape&, const Config&)> evaluate;
};

struct WeightedShape {
  Shape shape;
  double weight = 1;  // how much a gain here counts, and the share of the trials that it gets
};

/// Shapes spread over a box, `per_dim` to each dim in equal ratios, with equal weights: for dims that vary.
struct DimRange {
  int64_t low = 1, high = 1;
};
ATTUNE_API std::vector<WeightedShape> spread_shapes(const std::vector<DimRange>& ranges, int per_dim);

/// Where candidates run.
enum class Isolation : uint8_t {
  process = 0,  // a child process for each trial: a crash or a hang costs that trial. Threads and GPU contexts that
                // exist already do not come along.
  none = 1,     // here: what crashes ends the program, what hangs is not stopped
};

enum class TrialOutcome : uint8_t {
  ok = 0,
  refused = 1,  // it threw
  wrong = 2,    // check() said so
  crashed = 3,
  timed_out = 4,
  out_of_memory = 5,
};
ATTUNE_API const char* outcome_name(TrialOutcome outcome);

/// A measured configuration.
struct TuneTrial {
  Shape shape;
  Config config;
  TrialOutcome outcome = TrialOutcome::ok;
  std::string message;  // why it is not ok
  double time_ns = 0;
  double speedup = 1;   // over the default measured beside it
  bool reused = false;  // known from the record of an earlier run
};

struct TuneOptions {
  int64_t trials = 100;   // configurations to measure, over all shapes, those that the record has already included
  double budget_s = 0;    // wall clock; 0: no limit
  int repeat = 5;         // samples of a trial; what is clearly slower gets one, the best are measured 15 times more
  double timeout_s = 10;  // of a trial
  /// exhaustive, random, genetic, rl, bayesian, tpe, gp, model or auto; docs/search.md says which does what.
  std::string algorithm = "auto";
  uint64_t seed = 1;
  Isolation isolation = Isolation::process;
  /// Written while tuning, so that little is lost whatever happens; an existing one is continued, and nothing in it is
  /// measured again. Empty: none.
  std::string record;
  std::function<void(const TuneTrial&)> on_trial;  // after each trial
  std::function<bool()> stop;                      // asked between trials
};

/// What is best for a shape.
struct TunedShape {
  Shape shape;
  double weight = 1;
  Config config;  // the default where nothing was faster beyond noise
  bool is_default = true;
  double time_ns = 0, default_ns = 0;
  double speedup = 1, speedup_low = 1, speedup_high = 1;  // over the default, with its 95 % interval
  int64_t trials = 0, failed_trials = 0;
};

struct TuneSummary {
  std::vector<TunedShape> shapes;
  bool has_overall = false;    // one configuration was faster than the defaults over all shapes
  Config overall;              // it, or empty
  double overall_speedup = 1;  // weighted geometric mean
};

/// How a configuration was come by.
enum class Match : uint8_t {
  exact = 0,    // this shape was measured
  nearest = 1,  // a shape near it was, and its best is valid here
  overall = 2,  // the best over all measured shapes
  none = 3,     // the default: nothing measured applies
};

struct Choice {
  Config config;
  Match match = Match::none;
  Shape measured_shape;  // of exact and nearest
  std::string why;       // in words
};

/// A record at work: which configuration to use for a shape. Measures nothing; may be asked from several threads when
/// the computation's `space` can be.
class ATTUNE_API TunedComputation {
 public:
  ~TunedComputation();
  TunedComputation(TunedComputation&&) noexcept;
  TunedComputation& operator=(TunedComputation&&) noexcept;

  /// The best for a shape that was measured; else that of the nearest one, if it is valid here; else the overall one;
  /// else the default. Records of another device or version of the computation do not count: the default serves, and
  /// `why` says so.
  Choice choose(const Shape& shape) const;
  TuneSummary summary() const;

 private:
  friend class Tuner;
  struct State;
  explicit TunedComputation(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class ATTUNE_API Tuner {
 public:
  /// Throws UserError for a computation that lacks a part.
  explicit Tuner(Computation computation);
  ~Tuner();
  Tuner(Tuner&&) noexcept;
  Tuner& operator=(Tuner&&) noexcept;

  /// Throws UserError when a space is empty or the default of a shape does not work, and for an option that cannot be.
  TuneSummary search(const std::vector<WeightedShape>& shapes, const TuneOptions& options = {}) const;
  /// Reads a record that search() wrote. Throws UserError for a file that is none, or of another computation.
  TunedComputation apply(const std::string& record) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace v1
}  // namespace attune
