#include "job/judge_model.h"

#include "job/check_outputs.h"

namespace attune {

std::shared_ptr<const Advisor> winners_advice(const TuningResult& result) {
  std::map<std::string, Advice> advice;
  for (const TaskResult& task : result.tasks)
    if (task.winner)
      advice[task.task.key] = {
          task.winner->provider, task.winner->config,
          fmt::format("measured {:.2f}x ({:.2f} to {:.2f}) as fast as the default of {}", task.ratio,
                      task.ratio_interval.low, task.ratio_interval.high, task.task.provider)};
  return advice.empty() ? nullptr : std::make_shared<const AdviceList>(std::move(advice));
}

void judge_model(OpatJob& job, const Session& before, const Session& after, std::span<const Tensor> inputs) {
  TuningResult& result = job.result;
  if (const auto problem = check_outputs(before, after, inputs)) {
    result.conclusion = "the tuned plan was dropped: " + *problem;
    return;
  }
  CompareOptions compare;
  compare.seconds = std::clamp(job.clock.left_s(), 1.0, 10.0);
  compare.seed = job.options.seed;
  compare.stop = job.options.stop;
  result.comparison = compare_sessions(before, after, inputs, compare);
  result.applied = result.comparison->faster();
  const std::string ratio = fmt::format("{:.2f}x as fast ({:.2f} to {:.2f})", result.comparison->ratio,
                                        result.comparison->ratio_interval.low, result.comparison->ratio_interval.high);
  result.conclusion =
      result.applied ? "the tuned plan is " + ratio
                     : "the default plan is kept: the tuned one is " + ratio + ", which is not faster beyond noise";
}

}  // namespace attune
