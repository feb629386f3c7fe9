#include "job/proposals.h"

#include <cmath>

namespace attune {
namespace {

constexpr size_t kFinalists = 3;        // of a task
constexpr double kWorthJudging = 0.02;  // ln: what seems faster by less is left alone
constexpr double kBetter = 0.005;       // ln: than what is accepted already
constexpr double kLeastSaved = 0.0005;  // of a run

std::optional<tune::Trial> propose_for(const OpatJob& job, const ModelJudge& judge, const Unfit& unfit, size_t task) {
  const TaskSearch& search = job.searches[task];
  const auto accepted = judge.accepted().find(task);
  // Few kernels gain more in the model than alone.
  const double to_beat =
      accepted == judge.accepted().end() ? 0 : std::log(judge.find(task, accepted->second)->effect.ratio()) - kBetter;
  for (const TriedConfig& tried : search.finalists(kFinalists, kWorthJudging)) {
    const double saved_ms = -std::expm1(tried.log_ratio) * search.task().run_ms;
    if (tried.log_ratio > to_beat || saved_ms < kLeastSaved * job.run_ms) continue;
    const ModelVerdict* verdict = judge.find(task, tried.trial);
    if ((verdict == nullptr || verdict->is_open()) && !unfit.contains({task, tried.trial})) return tried.trial;
  }
  return std::nullopt;
}

}  // namespace

Choices propose(const OpatJob& job, const ModelJudge& judge, const Unfit& unfit) {
  Choices choices;
  for (size_t i = 0; i < job.searches.size(); ++i)
    if (const auto trial = propose_for(job, judge, unfit, i)) choices[i] = *trial;
  return choices;
}

}  // namespace attune
