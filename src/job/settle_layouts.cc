#include "job/settle_layouts.h"

#include "base/parallel.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace attune {
namespace {

/// A share of the budget, and only where it leaves most of it: up to four sessions are opened, and each has to run.
std::optional<LayoutFindings> find_layouts(const Session& before, std::span<const Tensor> inputs,
                                           const OpatOptions& options, const JobClock& clock) {
  constexpr double kShare = 0.05, kShortest = 0.3, kLongest = 2.5, kMostShare = 0.3;
  constexpr double kSessions = 5, kRuns = 50;  // at the most that are opened, at the least that are made
  LayoutStageOptions stage;
  stage.session = options.session;
  stage.seed = options.seed;
  stage.stop = options.stop;
  stage.seconds = std::clamp(options.budget_s * kShare, kShortest, kLongest);
  before.plan(inputs);
  const double opened_s = clock.seconds();
  before.run(inputs);
  const double run_s = clock.seconds() - opened_s;
  const double needed = kSessions * opened_s + std::max(3 * stage.seconds, kRuns * run_s);
  if (needed > kMostShare * options.budget_s || clock.stopped()) return std::nullopt;
  return tune_layouts(before, inputs, stage);
}

}  // namespace

std::optional<LayoutFindings> settle_layouts(const Session& before, std::span<const Tensor> inputs,
                                             const OpatOptions& options, const JobClock& clock) {
  if (options.session.layout != LayoutChoice::automatic) return std::nullopt;
  if (options.bank != nullptr)
    if (auto known = recall_layouts({*before.plan(inputs), options.session, thread_count()}, *options.bank))
      return known;
  return find_layouts(before, inputs, options, clock);
}

void tell_layouts(OpatJob& job, const LayoutFindings& layouts, const LayoutQuestion& question) {
  job.emit({{"event", "layouts"}, {"moved", layouts.moved}, {"conclusion", layouts.conclusion}});
  job.result.layouts = layouts.conclusion;
  if (!layouts.from_bank) job.keep(layout_record(question, layouts, job.source));
}

void count_layouts(OpatJob& job, const LayoutFindings& layouts, const Session& before, const Session& after,
                   std::span<const Tensor> inputs) {
  TuningResult& result = job.result;
  CompareOptions compare;
  compare.seconds = std::clamp(job.clock.left_s(), 0.5, 5.0);
  compare.metric = job.options.metric;
  compare.seed = job.options.seed;
  compare.stop = job.options.stop;
  result.comparison = compare_sessions(before, after, inputs, compare);
  result.before_plan = before.plan(inputs);
  result.applied = result.comparison->faster();
  const Interval interval = result.comparison->ratio_interval;
  const std::string ratio =
      fmt::format("{:.2f}x as fast ({:.2f} to {:.2f})", result.comparison->ratio, interval.low, interval.high);
  const std::string what = fmt::format("{} of {} convolutions in another layout", layouts.moved, layouts.convolutions);
  result.conclusion =
      result.applied
          ? fmt::format("the tuned plan is {}, with {}", ratio, what)
          : fmt::format("the default plan is kept: with {} it is {}, which is not faster beyond noise", what, ratio);
}

}  // namespace attune
