#include "job/partition_stage.h"

#include "job/recall.h"
#include "providers/providers.h"

#include <algorithm>

namespace attune {
namespace {

constexpr double kLeastShare = 0.0005;  // of a run: what takes less can hardly gain anything

/// Adds the names, unless one of them is there already.
bool claim(NodeNames& taken, const NodeNames& names) {
  if (std::ranges::any_of(names, [&](const std::string& name) { return taken.contains(name); })) return false;
  taken.insert(names.begin(), names.end());
  return true;
}

}  // namespace

PartitionStage::PartitionStage(SgatJob& job, std::unique_ptr<PairRunner> runner)
    : ModelStage(job, std::move(runner)), job_(job) {}

bool PartitionStage::is_judged(size_t subgraph, const tune::Trial& trial) const {
  const ModelVerdict* verdict = judge().find(subgraph, trial);
  return (verdict != nullptr && !verdict->is_open()) || unfit().contains({subgraph, trial});
}

Choices PartitionStage::proposals() const {
  NodeNames taken;
  for (const auto& [subgraph, trial] : judge().accepted()) claim(taken, job_.subgraphs[subgraph].names());
  Choices choices;
  size_t left = job_.trials_left();
  for (size_t i = 0; i < job_.subgraphs.size() && left > 0; ++i) {
    const Subgraph& subgraph = job_.subgraphs[i];
    if (subgraph.run_ms < kLeastShare * job_.run_ms) continue;
    const auto next = std::ranges::find_if(
        subgraph.candidates, [&](const FusionCandidate& candidate) { return !is_judged(i, candidate.trial); });
    if (next == subgraph.candidates.end()) continue;
    // What shares nodes with an accepted one waits for its fate, but may replace its own.
    if (!judge().accepted().contains(i) && !claim(taken, subgraph.names())) continue;
    choices[i] = next->trial;
    if (!job_.tried.contains({i, next->trial})) --left;
  }
  return choices;
}

Choices PartitionStage::compatible(const Choices& choices) const {
  NodeNames taken;
  Choices result;
  for (const auto& [subgraph, trial] : choices)
    if (!unfit().contains({subgraph, trial}) && claim(taken, job_.subgraphs[subgraph].names()))
      result.emplace(subgraph, trial);
  return result;
}

void PartitionStage::count(const Choices& choices) {
  for (const auto& choice : choices) job_.tried.insert(choice);
  job_.result.trials = static_cast<int64_t>(job_.tried.size());
}

void PartitionStage::try_proposals(double seconds) {
  const Choices choices = proposals();
  count(choices);
  judge_together(choices, seconds);
}

std::optional<double> PartitionStage::try_partition(const Choices& choices, double seconds) {
  count(choices);
  const ModelRun run = judge().judge_exactly(choices, seconds);
  if (run.problem.empty()) return 1 / run.whole.ratio;
  if (choices.size() == 1 && !job_.clock.stopped()) drop_unfit(choices, run.problem);
  return std::nullopt;
}

void PartitionStage::on_unfit(size_t task, const tune::Trial& trial, const std::string& problem) {
  job_.keep(wrong_record(job_.key_of(task), trial, job_.model, problem, require_provider(trial.provider).environment(),
                         job_.source));
}

void PartitionStage::recall() {
  if (job_.common.bank == nullptr) return;
  for (size_t i = 0; i < job_.subgraphs.size(); ++i)
    for (const auto& [trial, record] : recorded_candidates(job_, i)) {
      if (record.outcome == Outcome::ok)
        judge().recall(i, trial, recalled_verdict(record, job_.subgraphs[i].run_ms));
      else
        recall_unfit(i, trial);
      job_.recalled.emplace(i, trial);
      job_.result.records.push_back(record);
      ++job_.result.reused_trials;
    }
}

Record PartitionStage::record_of(size_t task, const tune::Trial& trial, ModelEvidence evidence) const {
  return partition_record(job_.key_of(task), trial, evidence, require_provider(trial.provider).environment(),
                          job_.source);
}

}  // namespace attune
