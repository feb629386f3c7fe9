#include "job/sgat_job.h"

#include "bank/device_fingerprint.h"
#include "providers/providers.h"
#include "runtime/bank_advisor.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace attune {

using Json = nlohmann::ordered_json;

SgatJob::SgatJob(const JobOptions& sgat_options, JobClock job_clock, const Session& session,
                 std::span<const Tensor> inputs)
    : JobFrame(sgat_options, std::move(job_clock), "sgat") {
  result.before_plan = session.plan(inputs);
  model = model_id(*result.before_plan);
  const std::vector<double> step_ms = time_steps(session, inputs);
  subgraphs = find_subgraphs(session.rewrites(), *result.before_plan, step_ms);
  for (TuningTask& task : extract_tasks(*result.before_plan, step_ms)) {
    run_ms += task.run_ms;
    TaskResult shown;
    shown.task = std::move(task);
    shown.verdict = "not tuned";
    result.tasks.push_back(std::move(shown));
  }
  Json tasks = Json::array();
  for (const Subgraph& subgraph : subgraphs) {
    SubgraphResult shown;
    shown.subgraph = subgraph;
    shown.verdict = "not tried";
    result.subgraphs.push_back(std::move(shown));
    tasks.push_back({{"workload", subgraph.whole},
                     {"pass", subgraph.pass},
                     {"key", subgraph.key},
                     {"nodes", subgraph.places.size()},
                     {"run_ms", subgraph.run_ms},
                     {"candidates", subgraph.candidates.size()}});
  }
  begin("subgraphs", tasks);
}

BankKey SgatJob::key_of(size_t subgraph) const {
  return {device_text(), subgraphs[subgraph].key, std::string(numeric_mode_name(common.session.mode)), threads};
}

size_t SgatJob::trials_left() const {
  if (common.most_trials == 0) return SIZE_MAX;
  const auto most = static_cast<size_t>(common.most_trials);
  return most > tried.size() ? most - tried.size() : 0;
}

std::map<tune::Trial, Record> recorded_candidates(const SgatJob& job, size_t subgraph) {
  std::map<tune::Trial, Record> newest;
  for (const Record& record : job.common.bank->find(job.key_of(subgraph))) {
    const tune::Trial trial{record.provider, record.config};
    const bool is_right = is_verified(record) && model_of(record) == job.model;
    const bool is_wrong = record.outcome == Outcome::wrong && record.message.starts_with(model_message(job.model));
    if ((!is_right && !is_wrong) || job.subgraphs[subgraph].find(trial) == nullptr) continue;
    if (record.environment != require_provider(record.provider).environment()) continue;
    const auto [known, is_first] = newest.emplace(trial, record);
    if (!is_first && record.measured_at > known->second.measured_at) known->second = record;
  }
  return newest;
}

const TriedFusion* SubgraphResult::best() const {
  const TriedFusion* best = nullptr;
  for (const TriedFusion& one : tried) {
    if (winner && one.trial == *winner) return &one;
    if (best == nullptr || one.saved_ms > best->saved_ms) best = &one;
  }
  return best;
}

void settle_subgraphs(SgatJob& job, const ModelJudge& judge, const Choices& chosen) {
  for (size_t i = 0; i < job.subgraphs.size(); ++i) {
    SubgraphResult& result = job.result.subgraphs[i];
    if (const auto found = chosen.find(i); found != chosen.end()) result.winner = found->second;
    for (const FusionCandidate& candidate : job.subgraphs[i].candidates) {
      const ModelVerdict* verdict = judge.find(i, candidate.trial);
      if (verdict == nullptr) continue;
      const Interval interval = verdict->effect.ratio_interval(0.95);
      TriedFusion tried;
      tried.trial = candidate.trial;
      // What is not used did not hold against the whole model, whatever its steps said.
      const bool is_dropped = verdict->verdict == tune::Verdict::faster && result.winner != candidate.trial;
      tried.verdict = is_dropped ? "not used" : std::string(tune::verdict_name(verdict->verdict));
      tried.ratio = 1 / verdict->effect.ratio();
      tried.ratio_interval = {1 / interval.high, 1 / interval.low};
      tried.saved_ms = verdict->effect.median_saved_ms();
      tried.from_bank = job.recalled.contains({i, candidate.trial});
      result.tried.push_back(std::move(tried));
    }
    if (const TriedFusion* best = result.best()) result.verdict = result.winner ? "faster" : best->verdict;
  }
}

}  // namespace attune
