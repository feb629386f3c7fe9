#include "job/settle_tasks.h"

namespace attune {
namespace {

/// Of the kernel that is used, else of the one that came closest.
const ModelVerdict* verdict_to_show(const TaskSearch& search, const ModelJudge& judge, size_t task,
                                    const std::optional<tune::Trial>& winner) {
  if (winner) return judge.find(task, *winner);
  const ModelVerdict* best = nullptr;
  for (const TriedConfig& tried : search.tried()) {
    const ModelVerdict* verdict = judge.find(task, tried.trial);
    if (verdict == nullptr) continue;
    if (best == nullptr || verdict->effect.median_saved_ms() > best->effect.median_saved_ms()) best = verdict;
  }
  return best;
}

}  // namespace

void settle_tasks(OpatJob& job, const ModelJudge& judge, const Choices& chosen) {
  for (size_t i = 0; i < job.searches.size(); ++i) {
    TaskResult& task = job.result.tasks[i];
    if (job.searches[i].tried().size() > 1 && task.verdict == "not tried") task.verdict = "tie";
    if (const auto found = chosen.find(i); found != chosen.end()) task.winner = found->second;
    const ModelVerdict* shown = verdict_to_show(job.searches[i], judge, i, task.winner);
    if (shown == nullptr) continue;
    const Interval interval = shown->effect.ratio_interval(0.95);
    task.ratio = 1 / shown->effect.ratio();
    task.ratio_interval = {1 / interval.high, 1 / interval.low};
    // What is not used did not hold against the whole model, whatever its steps said.
    const bool is_dropped = !task.winner && shown->verdict == tune::Verdict::faster;
    task.verdict = task.winner ? "faster" : is_dropped ? "tie" : std::string(tune::verdict_name(shown->verdict));
  }
}

}  // namespace attune
