#include "job/precision/precision_search.h"

#include <algorithm>
#include <numeric>

namespace attune {
namespace {

// Shares of the time after which the search goes on to the next part; what is left is for the comparison that decides.
constexpr double kAloneShare = 0.45, kTogetherShare = 0.8;
constexpr double kAloneLimit = 0.55;  // where errors take longer than the first of them promised
constexpr size_t kFewestGroups = 8;
constexpr int kMostExtensions = 16;
constexpr int kMostAttempts = 5;
constexpr double kCaution = 0.85;     // of the error that was allowed before new inputs broke it
constexpr double kWorthwhile = 0.01;  // of a run: less is not worth another candidate

double median_ms(const std::vector<double>& samples) { return samples.empty() ? 0 : summarize_samples(samples).median; }

}  // namespace

PrecisionSearch::PrecisionSearch(PrecisionTrials& trials, const JobClock& clock, PrecisionSearchOptions options)
    : trials_(trials), clock_(clock), options_(std::move(options)) {
  for (size_t i = 0; i < trials_.region_count(); ++i) all_.insert(i);
}

PrecisionDecision PrecisionSearch::keep_f32(std::string reason) const {
  PrecisionDecision decision;
  decision.reason = std::move(reason);
  decision.interrupted = clock_.stopped();
  return decision;
}

double PrecisionSearch::error(const Lowered& lowered) {
  if (lowered.empty()) return 0;
  const auto [found, is_new] = errors_.emplace(lowered, 0);
  if (is_new) found->second = trials_.error(lowered, InputChoice::all);
  return found->second;
}

PrecisionDecision PrecisionSearch::run() {
  if (all_.empty()) return keep_f32("the model has no product that could compute in bf16");
  options_.on_progress(fmt::format("all {} products in bf16", all_.size()));
  error(all_);
  all_runs_ = trials_.compare(all_, options_.compare_s / 2);
  if (clock_.stopped()) return keep_f32("it was interrupted");
  if (gaining().empty()) return keep_f32("no product is faster in bf16 here");

  double target = options_.accuracy_budget, broke = 0;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const Lowered lowered = find(target);
    if (clock_.stopped()) return keep_f32("it was interrupted");
    if (lowered.empty()) break;
    options_.on_progress(fmt::format("{} of {} products on new inputs", lowered.size(), all_.size()));
    // Asked once more, so that all that is said is said of one and the same session.
    const double known = trials_.error(lowered, InputChoice::all), fresh = trials_.new_error(lowered);
    broke = std::max(known, fresh);
    if (broke <= options_.accuracy_budget) return decide(lowered, broke);
    errors_.clear();  // the inputs that broke it are among those to hold it on from now on
    target *= kCaution;
  }
  return keep_f32(nothing_holds(broke));
}

std::string PrecisionSearch::nothing_holds(double broke) const {
  const char* time = clock_.has_time(kTogetherShare) ? "" : " in the time there was";
  if (broke > 0)
    return fmt::format(
        "what held it on the first inputs broke it on new ones (error {:.3g}), and nothing else was found{}", broke,
        time);
  if (groups_.empty()) return fmt::format("nothing that holds it was found{}", time);
  const auto least = std::min_element(groups_.begin(), groups_.end(),
                                      [](const Group& a, const Group& b) { return a.error < b.error; });
  return fmt::format("no product in bf16 holds it{}; the least error of those tried alone is {:.3g}", time,
                     least->error);
}

PrecisionDecision PrecisionSearch::decide(const Lowered& lowered, double error) {
  options_.on_progress(fmt::format("{} of {} products against f32", lowered.size(), all_.size()));
  PrecisionDecision decision;
  decision.runs = trials_.compare(lowered, options_.compare_s).whole;
  const Interval& interval = decision.runs.ratio_interval;
  const std::string runs = fmt::format("{:.3f}x ({:.3f} to {:.3f})", decision.runs.ratio, interval.low, interval.high);
  if (clock_.stopped()) return keep_f32("it was interrupted");
  if (!decision.runs.faster()) {
    decision.reason = fmt::format("with {} of {} products in bf16 the model was not faster beyond noise: {}",
                                  lowered.size(), all_.size(), runs);
    return decision;
  }
  decision.lowered = lowered;
  decision.error = error;
  decision.reason =
      lowered == all_ ? "all products in bf16 hold the budget" : "these products save the most time within the budget";
  return decision;
}

Lowered PrecisionSearch::gaining() const {
  Lowered result;
  for (const size_t region : all_)
    if (all_runs_.saved_ms.at(region) > 0) result.insert(region);
  return result;
}

Lowered PrecisionSearch::find(double target) {
  if (error(all_) <= target) return find_all();
  if (!has_groups_) measure_groups();
  Lowered lowered = largest_prefix(target);
  int attempts = kMostExtensions;
  for (const Group& group : groups_) extend(lowered, group.regions, target, attempts);
  return lowered;
}

Lowered PrecisionSearch::find_all() {
  const Lowered some = gaining();
  double lost_ms = 0;
  for (const double saved : all_runs_.saved_ms) lost_ms += std::max(0.0, -saved);
  const double run_ms = median_ms(all_runs_.whole.after_ms);
  if (lost_ms <= kWorthwhile * run_ms || !clock_.has_time(kTogetherShare) || error(some) > error(all_)) return all_;
  options_.on_progress(fmt::format("the {} products that are faster in bf16", some.size()));
  const SessionComparison runs = trials_.compare(some, options_.compare_s / 2).whole;
  return runs.ratio > all_runs_.whole.ratio * (1 + kWorthwhile) ? some : all_;
}

size_t PrecisionSearch::affordable_trials(const Lowered& one) {
  const double begin = clock_.seconds();
  trials_.error(one, InputChoice::first);
  const double trial_s = std::max(clock_.seconds() - begin, 1e-6);
  return static_cast<size_t>(std::max(0.0, clock_.left_s(kAloneShare)) / trial_s);
}

void PrecisionSearch::measure_groups() {
  has_groups_ = true;
  const Lowered regions = gaining();
  const size_t count = std::min(regions.size(), std::max(kFewestGroups, affordable_trials({*regions.begin()})));
  std::vector<Group> groups(count);
  size_t position = 0;
  for (const size_t region : regions) {  // neighbours together
    Group& group = groups[position++ * count / regions.size()];
    group.regions.insert(region);
    group.saved_ms += all_runs_.saved_ms[region];
  }
  for (Group& group : groups) {
    if (!clock_.has_time(kAloneLimit)) break;  // what is not measured stays in f32
    options_.on_progress(fmt::format("error of products alone: {} of {}", groups_.size() + 1, groups.size()));
    group.error = trials_.error(group.regions, InputChoice::first);
    groups_.push_back(group);
  }
  // Saved over error, without a division by errors of 0.
  std::stable_sort(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) {
    return a.saved_ms * std::max(b.error, 1e-12) > b.saved_ms * std::max(a.error, 1e-12);
  });
}

Lowered PrecisionSearch::prefix(size_t count) const {
  Lowered result;
  for (size_t i = 0; i < count; ++i) result.insert(groups_[i].regions.begin(), groups_[i].regions.end());
  return result;
}

Lowered PrecisionSearch::largest_prefix(double target) {
  size_t holds = 0, breaks = groups_.size() + 1;
  while (breaks - holds > 1 && clock_.has_time(kTogetherShare)) {
    const size_t middle = (holds + breaks) / 2;
    options_.on_progress(fmt::format("error of the first {} of {}", middle, groups_.size()));
    (error(prefix(middle)) <= target ? holds : breaks) = middle;
  }
  return prefix(holds);
}

void PrecisionSearch::extend(Lowered& lowered, const Lowered& regions, double target, int& attempts) {
  Lowered more = lowered;
  more.insert(regions.begin(), regions.end());
  if (more == lowered || attempts == 0 || !clock_.has_time(kTogetherShare)) return;
  --attempts;
  options_.on_progress(fmt::format("error of {} products", more.size()));
  if (error(more) <= target) {
    lowered = std::move(more);
  } else if (regions.size() > 1) {
    const auto middle = std::next(regions.begin(), static_cast<std::ptrdiff_t>(regions.size() / 2));
    extend(lowered, Lowered(regions.begin(), middle), target, attempts);
    extend(lowered, Lowered(middle, regions.end()), target, attempts);
  }
}

}  // namespace attune
