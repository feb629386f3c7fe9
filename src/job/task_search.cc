#include "job/task_search.h"

#include "tune/search/make_searcher.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

/// What makes kernels of one kind: they differ in their numbers only.
std::string kind_of(const tune::Trial& trial) {
  std::string kind = trial.provider;
  for (const char* name : {"generator", "algorithm", "impl"})
    if (const auto found = trial.config.find(name); found != trial.config.end()) kind += " " + found->second;
  return kind;
}

}  // namespace

struct TaskSearch::Part {
  const Provider* provider;
  Space space;
  std::unique_ptr<tune::GuidedSearch> searcher;
  bool over = false;

  Part(const Provider& source, Space points, const TaskSearchOptions& options)
      : provider(&source), space(std::move(points)) {
    tune::SearchOptions search;
    search.seed = options.seed;
    search.budget = options.budget;
    searcher = tune::make_searcher(options.algorithm, space, search);
  }
};

TaskSearch::TaskSearch(TuningTask task, std::span<const Provider* const> providers, const TaskSearchOptions& options)
    : task_(std::move(task)) {
  for (const Provider* provider : options.algorithm.empty() ? std::span<const Provider* const>() : providers) {
    if (std::holds_alternative<Refusal>(provider->offer(task_.workload))) continue;
    parts_.push_back(std::make_unique<Part>(*provider, provider->space(task_.workload), options));
  }
  TriedConfig standard;
  standard.trial = default_trial();
  tell(standard);
}

TaskSearch::TaskSearch(TaskSearch&&) noexcept = default;
TaskSearch::~TaskSearch() = default;

uint64_t TaskSearch::space_size() const {
  uint64_t total = 0;
  for (const auto& part : parts_) total += part->space.size();
  return total;
}

std::string TaskSearch::space_text() const {
  std::string text;
  for (const auto& part : parts_)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", part->provider->name(), part->space.size());
  return text;
}

bool TaskSearch::suggest(const tune::Trial& trial) {
  if (known_.contains(trial) || !ever_suggested_.insert(trial).second) return false;
  for (const auto& part : parts_) {
    if (part->provider->name() != trial.provider || !part->space.index_of(trial.config)) continue;
    suggested_.push_back(trial);
    return true;
  }
  return false;
}

std::vector<tune::Trial> TaskSearch::next(int count) {
  std::vector<tune::Trial> trials;
  for (; !suggested_.empty() && static_cast<int>(trials.size()) < count; suggested_.pop_front()) {
    if (known_.contains(suggested_.front())) continue;
    trials.push_back(suggested_.front());
    for (const auto& part : parts_)
      if (part->provider->name() == trials.back().provider)
        part->searcher->skip(*part->space.index_of(trials.back().config));
  }
  // In turn, so that a provider with a large space does not keep the others waiting.
  for (bool any = true; any && static_cast<int>(trials.size()) < count;) {
    any = false;
    for (const auto& part : parts_) {
      if (part->over || static_cast<int>(trials.size()) >= count) continue;
      const std::vector<uint64_t> asked = part->searcher->ask(1);
      part->over = asked.empty();
      any = any || !asked.empty();
      for (const uint64_t index : asked) {
        tune::Trial trial{std::string(part->provider->name()), part->space.at(index)};
        if (known_.count(trial) == 0) trials.push_back(std::move(trial));
      }
    }
  }
  return trials;
}

void TaskSearch::tell(const TriedConfig& tried) {
  known_.emplace(tried.trial, tried_.size());
  tried_.push_back(tried);
  for (const auto& part : parts_) {
    if (part->provider->name() != tried.trial.provider) continue;
    const auto index = part->space.index_of(tried.trial.config);
    if (!index) continue;  // of an earlier version of the space
    tune::Observation observation;
    observation.point = *index;
    observation.outcome = tried.outcome;
    observation.cost = std::exp(tried.log_ratio);
    part->searcher->tell(observation);
  }
  ++since_better_;
  constexpr double kBetter = 0.01;
  if (tried.outcome == Outcome::ok && tried.log_ratio < best_log_ratio_ - kBetter) {
    best_log_ratio_ = tried.log_ratio;
    since_better_ = 0;
  }
}

std::vector<TriedConfig> TaskSearch::best(size_t count, double margin) const {
  std::vector<TriedConfig> right;
  for (const TriedConfig& tried : tried_)
    if (tried.outcome == Outcome::ok && tried.log_ratio < -margin) right.push_back(tried);
  std::sort(right.begin(), right.end(),
            [](const TriedConfig& a, const TriedConfig& b) { return a.log_ratio < b.log_ratio; });
  if (right.size() > count) right.resize(count);
  return right;
}

std::vector<TriedConfig> TaskSearch::finalists(size_t count, double margin) const {
  std::vector<TriedConfig> firsts, others;
  std::set<std::string> kinds;
  for (TriedConfig& tried : best(tried_.size(), margin)) {
    const bool is_first = kinds.insert(kind_of(tried.trial)).second;
    (is_first ? firsts : others).push_back(std::move(tried));
  }
  // Beside the fastest of all, its runner-up is worth more than a third kind.
  if (firsts.size() > 2)
    firsts.insert(firsts.begin() + 2, others.begin(), others.end());
  else
    firsts.insert(firsts.end(), others.begin(), others.end());
  if (firsts.size() > count) firsts.resize(count);
  return firsts;
}

void TaskSearch::set_roofline_ns(double roofline_ns, double default_ns) {
  if (roofline_ns > 0 && default_ns > 0) roofline_share_ = std::min(1.0, roofline_ns / default_ns);
}

double TaskSearch::promise_ms() const {
  // Nobody reaches the roofline; half of the way there is a good kernel.
  const double left = std::max(0.0, std::exp(best_log_ratio_) - roofline_share_) / 2;
  constexpr double kPatience = 8;  // trials
  const int waited = suggested_.empty() ? since_better_ : 0;
  return task_.run_ms * left / (1 + waited / kPatience);
}

}  // namespace attune
