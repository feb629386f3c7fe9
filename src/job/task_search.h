// The search of one task: what to try next among all that the providers have, what came of it, and what is left to
// gain.
#pragma once

#include "job/tuning_task.h"
#include "kernel/provider.h"
#include "tune/measure/trial.h"
#include "tune/search/searcher.h"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace attune {

struct TaskSearchOptions {
  std::string algorithm = "auto";  // one of tune::searcher_names(); empty: the task is left as it is
  uint64_t seed = 1;
  int budget = 64;  // trials of one large space that are planned
};

/// A configuration that was measured, now or in an earlier run.
struct TriedConfig {
  tune::Trial trial;
  Outcome outcome = Outcome::ok;
  double log_ratio = 0;  // ln(time / time of the default): below 0 is faster
  double time_ns = 0;
  double max_error = 0;
  bool from_bank = false;
};

class TaskSearch {
 public:
  /// Asks every provider for its space; those that refuse have nothing to try.
  TaskSearch(TuningTask task, std::span<const Provider* const> providers, const TaskSearchOptions& options);
  TaskSearch(TaskSearch&&) noexcept;
  ~TaskSearch();

  const TuningTask& task() const { return task_; }
  tune::Trial default_trial() const { return {task_.provider, task_.config}; }
  /// Points of all providers' spaces together.
  uint64_t space_size() const;
  /// By provider, for people: "onednn 7, generated 1240".
  std::string space_text() const;
  bool has_alternatives() const { return space_size() > 1; }

  /// Up to `count` trials that nobody made yet, the default not among them; none: the search is over.
  std::vector<tune::Trial> next(int count);
  void tell(const TriedConfig& tried);
  /// Asks for this one before anything else, such as the winner of a similar workload. False where it is known already,
  /// or no point of the space.
  bool suggest(const tune::Trial& trial);

  const std::vector<TriedConfig>& tried() const { return tried_; }
  /// The fastest right ones, at most `count`, of those that seem faster than the default by more than `margin` (ln).
  std::vector<TriedConfig> best(size_t count, double margin) const;
  /// As many of these, but unlike each other first: the fastest of every kind of kernel (provider, generator,
  /// implementation), since what differs little will do alike in a model.
  std::vector<TriedConfig> finalists(size_t count, double margin) const;
  /// Whether somebody else's winner waits to be tried, or nothing was tried yet.
  bool is_curious() const { return !suggested_.empty() || tried_.size() <= 1; }

  /// No kernel is faster than this; what is above it may be gained. 0: not known.
  void set_roofline_ns(double roofline_ns, double default_ns);
  /// Milliseconds of a run of the model that are worth hoping for, by what is left to the roofline and by how long
  /// nothing better was found.
  double promise_ms() const;

 private:
  struct Part;  // one provider's space with its searcher

  TuningTask task_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<TriedConfig> tried_;
  std::map<tune::Trial, size_t> known_;  // position in tried_
  std::deque<tune::Trial> suggested_;
  std::set<tune::Trial> ever_suggested_;
  double roofline_share_ = 0.7;  // of the default's time, while it is not known
  int since_better_ = 0;
  double best_log_ratio_ = 0;
};

}  // namespace attune
