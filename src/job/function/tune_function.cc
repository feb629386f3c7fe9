#include "job/function/tune_function.h"

#include "bank/device_fingerprint.h"
#include "base/error.h"
#include "tune/search/make_searcher.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kOverallShare = 0.2;  // of trials and time: best configurations of one shape tried on the others
constexpr size_t kFinalists = 3, kOverallCandidates = 4;
constexpr double kWorthAFinal = 0.98;  // ratio: what seems faster by less is left alone
constexpr int kLeastFinalPairs = 15;
constexpr double kConfidence = 1 - 0.05 / kFinalists;  // of each, so that it is 95 % over the finalists together

void check_shapes(const TunableFunction& function, std::span<const WeightedDims> shapes) {
  if (shapes.empty()) throw UserError("no shapes are given to tune '{}' for", function.name);
  std::set<Dims> seen;
  for (const WeightedDims& one : shapes) {
    check_shape(function, one.shape);
    if (!(one.weight > 0) || !std::isfinite(one.weight))
      throw UserError("the weight of {} is {}; give a number above 0", shape_text(function, one.shape), one.weight);
    if (!seen.insert(one.shape).second)
      throw UserError("{} is given twice; add the weights up", shape_text(function, one.shape));
  }
}

class FunctionJob {
 public:
  FunctionJob(const TunableFunction& function, std::span<const WeightedDims> shapes, const FunctionTuneOptions& options)
      : function_(function), shapes_(shapes), options_(options), begin_(Clock::now()) {
    record_ = {function.name, function.version, function.dims, device_text(), ATTUNE_VERSION, {}, std::nullopt, 1};
    std::map<Dims, ShapeRecord> earlier = recall();
    for (const WeightedDims& one : shapes) {
      const auto known = earlier.find(one.shape);
      ShapeRecord shape = known == earlier.end() ? ShapeRecord{} : known->second;
      shape.shape = one.shape;
      shape.weight = one.weight;
      spaces_.push_back(space_of(function, one.shape));
      keep_valid(shape, spaces_.back());
      record_.shapes.push_back(std::move(shape));
      earlier.erase(one.shape);
    }
    for (auto& [dims, shape] : earlier) others_.push_back(std::move(shape));
  }

  FunctionRecord run() {
    // The heaviest first: what is found there is where the others begin.
    std::vector<size_t> order(shapes_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return shapes_[a].weight > shapes_[b].weight; });
    for (const size_t i : order) {
      for (const FunctionTrial& trial : record_.shapes[i].trials) options_.on_trial({shapes_[i].shape, trial, true});
      measure_default(i);
    }
    double weight_left = 0;
    for (const WeightedDims& one : shapes_) weight_left += one.weight;
    const double share = shapes_.size() > 1 ? 1 - kOverallShare : 1;
    double trials_left = share * static_cast<double>(options_.trials);
    for (const size_t i : order) {
      const double part = shapes_[i].weight / weight_left;
      const double until = seconds() + part * std::max(0.0, share * options_.budget_s - seconds());
      search(i, {std::llround(part * trials_left), options_.budget_s > 0 ? until : HUGE_VAL});
      judge(i);
      weight_left -= shapes_[i].weight;
      trials_left -= static_cast<double>(record_.shapes[i].trials.size());
    }
    if (shapes_.size() > 1) find_overall();
    save();
    return whole_record();
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  bool has_time() const { return !options_.stop() && (options_.budget_s <= 0 || seconds() < options_.budget_s); }
  /// Those of an earlier run count: the same call again goes on, or has nothing left to do.
  bool has_trials() const {
    size_t count = 0;
    for (const ShapeRecord& shape : record_.shapes) count += shape.trials.size();
    return static_cast<int64_t>(count) < options_.trials;
  }

  std::map<Dims, ShapeRecord> recall() const {
    std::map<Dims, ShapeRecord> known;
    if (options_.record.empty() || !std::filesystem::exists(options_.record)) return known;
    FunctionRecord earlier = load_function_record(options_.record);
    if (earlier.name != function_.name || earlier.dims != function_.dims)
      throw UserError("'{}' is the record of '{}'; give '{}' a file of its own", options_.record.string(), earlier.name,
                      function_.name);
    if (earlier.device != record_.device || earlier.version != function_.version) return known;
    for (ShapeRecord& shape : earlier.shapes) known[shape.shape] = std::move(shape);
    return known;
  }

  /// Trials that are still points of the space and relate to the same default; the others are measured again.
  static void keep_valid(ShapeRecord& shape, const Space& space) {
    if (shape.standard != space.default_config()) shape.trials.clear();
    std::erase_if(shape.trials, [&](const FunctionTrial& trial) { return !space.index_of(trial.config); });
    shape.standard = shape.best = space.default_config();
    shape.ratio = {};
  }

  FunctionTrial measure(size_t i, const Config& config, const PairOptions& pairs) {
    const PairTimes times = measure_pairs(function_, shapes_[i].shape, config, record_.shapes[i].standard, pairs);
    if (times.outcome == Outcome::infrastructure)
      throw UserError("cannot measure '{}': {}", function_.name, times.message);
    FunctionTrial trial{config, times.outcome, times.message, times.ratio(kConfidence), times.time_ns(), 0, false};
    trial.pairs = static_cast<int>(times.candidate_ns.size());
    if (times.outcome == Outcome::ok) record_.shapes[i].default_ns = times.default_time();
    return trial;
  }

  const FunctionTrial& keep(size_t i, FunctionTrial trial) {
    std::vector<FunctionTrial>& trials = record_.shapes[i].trials;
    const auto known = std::find_if(trials.begin(), trials.end(),
                                    [&](const FunctionTrial& other) { return other.config == trial.config; });
    FunctionTrial& kept = known == trials.end() ? trials.emplace_back(std::move(trial)) : (*known = std::move(trial));
    save_when_cheap();
    return kept;
  }

  const FunctionTrial& try_config(size_t i, const Config& config) {
    PairOptions pairs = options_.pairs;
    pairs.seed = options_.seed + ++measured_;
    const FunctionTrial& trial = keep(i, measure(i, config, pairs));
    options_.on_trial({shapes_[i].shape, trial, false});
    return trial;
  }

  void measure_default(size_t i) {
    ShapeRecord& shape = record_.shapes[i];
    const FunctionTrial* known = shape.find(shape.standard);
    const FunctionTrial trial = known != nullptr ? *known : try_config(i, shape.standard);
    if (trial.outcome != Outcome::ok)
      throw UserError(
          "the default of '{}' does not work with {}: {} ({}); it has to, since all others are compared "
          "with it",
          function_.name, shape_text(function_, shape.shape), outcome_name(trial.outcome), trial.message);
    shape.best_ns = shape.default_ns > 0 ? shape.default_ns : trial.time_ns;
    shape.default_ns = shape.best_ns;
  }

  struct Limit {
    int64_t trials;  // of the shape, with those that are known
    double seconds;  // since the beginning
  };
  void search(size_t i, const Limit& limit) {
    ShapeRecord& shape = record_.shapes[i];
    const Space& space = spaces_[i];
    tune::SearchOptions search;
    search.seed = options_.seed + i;
    search.budget = static_cast<int>(std::clamp<int64_t>(limit.trials, 1, 1'000'000));
    for (const ShapeRecord& other : record_.shapes)
      if (other.best != other.standard)
        if (const auto index = space.index_of(other.best)) search.first.push_back(*index);
    const auto searcher = tune::make_searcher(options_.algorithm, space, search);
    const auto tell = [&](const FunctionTrial& trial) {
      searcher->tell({space.index_of(trial.config).value(), trial.outcome, trial.ratio.value});
    };
    for (const FunctionTrial& trial : shape.trials) tell(trial);
    while (static_cast<int64_t>(shape.trials.size()) < limit.trials && has_time() && seconds() < limit.seconds) {
      const std::vector<uint64_t> asked = searcher->ask(1);
      if (asked.empty()) return;
      tell(try_config(i, space.at(asked.front())));
    }
  }

  /// The best once more, beside the default and longer: the fastest of many is often only the luckiest.
  void judge(size_t i) {
    ShapeRecord& shape = record_.shapes[i];
    std::vector<FunctionTrial> best;
    for (const FunctionTrial& trial : shape.trials)
      if (trial.outcome == Outcome::ok && trial.config != shape.standard && trial.ratio.value < kWorthAFinal)
        best.push_back(trial);
    std::sort(best.begin(), best.end(),
              [](const FunctionTrial& a, const FunctionTrial& b) { return a.ratio.value < b.ratio.value; });
    if (best.size() > kFinalists) best.resize(kFinalists);
    PairOptions pairs = options_.pairs;
    pairs.pairs = std::max(kLeastFinalPairs, pairs.pairs);
    pairs.give_up_ratio = HUGE_VAL;
    pairs.seed = options_.seed;
    for (FunctionTrial& trial : best) {
      if (options_.stop()) return;
      if (!trial.is_final) {
        trial = measure(i, trial.config, pairs);
        trial.is_final = true;
        keep(i, trial);
      }
      if (trial.outcome != Outcome::ok || trial.ratio.high >= 1 || trial.ratio.value >= shape.ratio.value) continue;
      shape.best = trial.config;
      shape.ratio = trial.ratio;
      shape.best_ns = trial.time_ns;
    }
  }

  /// The best of each shape on all the others, as far as they are points there.
  void find_overall() {
    std::vector<Config> candidates;
    for (const ShapeRecord& shape : record_.shapes)
      if (shape.best != shape.standard &&
          std::find(candidates.begin(), candidates.end(), shape.best) == candidates.end())
        candidates.push_back(shape.best);
    if (candidates.size() > kOverallCandidates) candidates.resize(kOverallCandidates);
    for (const Config& config : candidates) {
      double sum = 0, weights = 0;
      bool everywhere = true;
      for (size_t i = 0; i < shapes_.size() && everywhere; ++i) {
        const FunctionTrial* known = record_.shapes[i].find(config);
        everywhere = spaces_[i].index_of(config).has_value() && (known != nullptr || (has_time() && has_trials()));
        if (!everywhere) break;
        const FunctionTrial trial = known != nullptr ? *known : try_config(i, config);
        everywhere = trial.outcome == Outcome::ok;
        sum += shapes_[i].weight * std::log(trial.ratio.value);
        weights += shapes_[i].weight;
      }
      const double ratio = everywhere ? std::exp(sum / weights) : 1;
      if (ratio >= record_.overall_ratio) continue;
      record_.overall = config;
      record_.overall_ratio = ratio;
    }
  }

  FunctionRecord whole_record() const {
    FunctionRecord record = record_;
    record.shapes.insert(record.shapes.end(), others_.begin(), others_.end());
    return record;
  }
  void save() const {
    if (!options_.record.empty()) save_function_record(whole_record(), options_.record);
  }
  /// At once, unless the file has grown so large that writing it would take a good part of the time.
  void save_when_cheap() {
    if (options_.record.empty() || Clock::now() < next_save_) return;
    const auto begin = Clock::now();
    save();
    next_save_ = Clock::now() + 10 * (Clock::now() - begin);
  }

  const TunableFunction& function_;
  std::span<const WeightedDims> shapes_;
  const FunctionTuneOptions& options_;
  Clock::time_point begin_, next_save_{};
  FunctionRecord record_;
  std::vector<ShapeRecord> others_;  // of the earlier record: they stay in it
  std::vector<Space> spaces_;
  uint64_t measured_ = 0;
};

}  // namespace

FunctionRecord tune_function(const TunableFunction& function, std::span<const WeightedDims> shapes,
                             const FunctionTuneOptions& options) {
  check_function(function);
  check_shapes(function, shapes);
  if (options.trials < 1) throw UserError("{} trials; give at least 1", options.trials);
  if (options.pairs.pairs < 1) throw UserError("{} repeats; give at least 1", options.pairs.pairs);
  return FunctionJob(function, shapes, options).run();
}

}  // namespace attune
