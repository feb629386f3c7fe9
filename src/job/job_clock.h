// The wall clock of a job: what was spent of its budget, and whether somebody asked it to stop.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>

namespace attune {

class JobClock {
 public:
  /// Runs from now on.
  JobClock(double budget_s, std::function<bool()> stop) : budget_s_(budget_s), stop_(std::move(stop)) {}

  double budget_s() const { return budget_s_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  bool stopped() const { return stop_(); }
  /// Until this share of the budget is spent; below 0 after it.
  double left_s(double share = 1) const { return budget_s_ * share - seconds(); }
  bool has_time(double share = 1) const { return !stopped() && left_s(share) > 0; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
  double budget_s_;
  std::function<bool()> stop_;
};

}  // namespace attune
