#include "api/guarded.h"
#include "api/space_access.h"

#include <attune/tuner.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace attune {
namespace {

// The public numbers are frozen.
static_assert(static_cast<int>(FunctionMatch::exact) == static_cast<int>(v1::Match::exact) &&
              static_cast<int>(FunctionMatch::nearest) == static_cast<int>(v1::Match::nearest) &&
              static_cast<int>(FunctionMatch::overall) == static_cast<int>(v1::Match::overall) &&
              static_cast<int>(FunctionMatch::standard) == static_cast<int>(v1::Match::none));

}  // namespace

inline namespace v1 {
namespace {

TunableFunction to_inner(const Computation& computation) {
  TunableFunction function;
  function.name = computation.name;
  function.version = computation.version;
  function.dims = computation.dims;
  if (computation.space)
    function.space = [name = computation.name, space = computation.space](const Dims& shape) {
      try {
        return SpaceAccess::take(space(shape));
      } catch (const inner::Error&) {
        throw;
      } catch (const Error&) {
        throw;
      } catch (const std::exception& error) {
        throw UserError(
            fmt::format("the space of '{}' threw for shape [{}]: {}", name, attune::to_text(shape), error.what()));
      }
    };
  if (computation.build)
    function.build = [build = computation.build](const Dims& shape, const inner::Config& config) {
      Candidate candidate = build(shape, Config(config));
      return FunctionCandidate{std::move(candidate.run), std::move(candidate.check)};
    };
  if (computation.evaluate)
    function.evaluate = [evaluate = computation.evaluate](const Dims& shape, const inner::Config& config) {
      return evaluate(shape, Config(config));
    };
  return function;
}

TrialOutcome from_inner(inner::Outcome outcome) {
  switch (outcome) {
    case inner::Outcome::ok: return TrialOutcome::ok;
    case inner::Outcome::wrong: return TrialOutcome::wrong;
    case inner::Outcome::crashed: return TrialOutcome::crashed;
    case inner::Outcome::timed_out: return TrialOutcome::timed_out;
    case inner::Outcome::out_of_memory: return TrialOutcome::out_of_memory;
    default: return TrialOutcome::refused;
  }
}

TuneTrial from_inner(const FunctionTuneOptions::Event& event) {
  TuneTrial trial;
  trial.shape = event.shape;
  trial.config = Config(event.trial.config);
  trial.outcome = from_inner(event.trial.outcome);
  trial.message = event.trial.message;
  trial.time_ns = event.trial.time_ns;
  trial.speedup = 1 / event.trial.ratio.value;
  trial.reused = event.reused;
  return trial;
}

FunctionTuneOptions to_inner(const TuneOptions& options) {
  if (!(options.timeout_s > 0) || options.timeout_s > 1e6)
    throw UserError(fmt::format("a timeout of {} s; give one above 0", options.timeout_s));
  if (!(options.budget_s >= 0)) throw UserError(fmt::format("a budget of {} s; give 0 for none", options.budget_s));
  FunctionTuneOptions result;
  result.trials = options.trials;
  result.budget_s = options.budget_s;
  result.algorithm = options.algorithm;
  result.seed = options.seed;
  result.pairs.pairs = options.repeat;
  result.pairs.timeout = std::chrono::milliseconds(std::llround(std::max(1.0, options.timeout_s * 1000)));
  result.pairs.in_child_process = options.isolation == Isolation::process;
  result.record = options.record;
  if (options.stop) result.stop = options.stop;
  if (options.on_trial)
    result.on_trial = [report = options.on_trial](const FunctionTuneOptions::Event& event) {
      report(from_inner(event));
    };
  return result;
}

TunedShape from_inner(const ShapeRecord& record) {
  TunedShape shape;
  shape.shape = record.shape;
  shape.weight = record.weight;
  shape.config = Config(record.best);
  shape.is_default = record.best == record.standard;
  shape.time_ns = record.best_ns;
  shape.default_ns = record.default_ns;
  shape.speedup = 1 / record.ratio.value;
  shape.speedup_low = 1 / record.ratio.high;
  shape.speedup_high = 1 / record.ratio.low;
  shape.trials = static_cast<int64_t>(record.trials.size());
  shape.failed_trials = std::count_if(record.trials.begin(), record.trials.end(),
                                      [](const FunctionTrial& trial) { return trial.outcome != inner::Outcome::ok; });
  return shape;
}

TuneSummary from_inner(const FunctionRecord& record) {
  TuneSummary summary;
  for (const ShapeRecord& shape : record.shapes) summary.shapes.push_back(from_inner(shape));
  summary.has_overall = record.overall.has_value();
  if (record.overall) summary.overall = Config(*record.overall);
  summary.overall_speedup = 1 / record.overall_ratio;
  return summary;
}

}  // namespace

const char* outcome_name(TrialOutcome outcome) {
  constexpr const char* kNames[] = {"ok", "refused", "wrong", "crashed", "timed_out", "out_of_memory"};
  if (outcome > TrialOutcome::out_of_memory)
    throw UserError(fmt::format("{} is no outcome", static_cast<int>(outcome)));
  return kNames[static_cast<int>(outcome)];
}

std::vector<WeightedShape> spread_shapes(const std::vector<DimRange>& ranges, int per_dim) {
  if (per_dim < 1) throw UserError(fmt::format("{} shapes for a dim; give at least 1", per_dim));
  std::vector<WeightedShape> shapes{{{}, 1}};
  for (const DimRange& range : ranges) {
    if (range.low < 1 || range.high < range.low)
      throw UserError(
          fmt::format("a range of {} to {}; give low and high with 1 <= low <= high", range.low, range.high));
    std::set<int64_t> sizes;  // neighbours may round to one
    for (int i = 0; i < per_dim; ++i) {
      const double part = per_dim == 1 ? 0.5 : static_cast<double>(i) / (per_dim - 1);
      const double ratio = static_cast<double>(range.high) / static_cast<double>(range.low);
      sizes.insert(std::llround(static_cast<double>(range.low) * std::pow(ratio, part)));
    }
    std::vector<WeightedShape> longer;
    for (const WeightedShape& shape : shapes)
      for (const int64_t size : sizes) {
        longer.push_back(shape);
        longer.back().shape.push_back(size);
      }
    if (longer.size() > 100'000) throw UserError("more than 100000 shapes; give fewer for each dim");
    shapes = std::move(longer);
  }
  return shapes;
}

struct TunedComputation::State {
  TunableFunction function;
  FunctionRecord record;
};

TunedComputation::TunedComputation(std::unique_ptr<State> state) : state_(std::move(state)) {}
TunedComputation::~TunedComputation() = default;
TunedComputation::TunedComputation(TunedComputation&&) noexcept = default;
TunedComputation& TunedComputation::operator=(TunedComputation&&) noexcept = default;

Choice TunedComputation::choose(const Shape& shape) const {
  return guarded([&] {
    FunctionChoice chosen = choose_config(state_->record, state_->function, shape);
    return Choice{Config(std::move(chosen.config)), static_cast<Match>(chosen.match), std::move(chosen.from),
                  std::move(chosen.why)};
  });
}
TuneSummary TunedComputation::summary() const { return from_inner(state_->record); }

struct Tuner::State {
  TunableFunction function;
};

Tuner::Tuner(Computation computation)
    : state_(guarded([&] {
        auto state = std::make_unique<State>(State{to_inner(computation)});
        check_function(state->function);
        return state;
      })) {}
Tuner::~Tuner() = default;
Tuner::Tuner(Tuner&&) noexcept = default;
Tuner& Tuner::operator=(Tuner&&) noexcept = default;

TuneSummary Tuner::search(const std::vector<WeightedShape>& shapes, const TuneOptions& options) const {
  return guarded([&] {
    std::vector<WeightedDims> weighted;
    for (const WeightedShape& one : shapes) weighted.push_back({one.shape, one.weight});
    return from_inner(tune_function(state_->function, weighted, to_inner(options)));
  });
}

TunedComputation Tuner::apply(const std::string& record) const {
  return guarded([&] {
    auto state = std::make_unique<TunedComputation::State>(
        TunedComputation::State{state_->function, load_function_record(record)});
    check_record(state->record, state->function);
    return TunedComputation(std::move(state));
  });
}

}  // namespace v1
}  // namespace attune
