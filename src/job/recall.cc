#include "job/recall.h"

#include "runtime/bank_advisor.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

/// Whether the record is of a kernel as it would be built now.
bool is_present(const Record& record, std::span<const Provider* const> providers) {
  return std::any_of(providers.begin(), providers.end(), [&](const Provider* provider) {
    return provider->name() == record.provider && provider->environment() == record.environment;
  });
}

/// What a trial was found to be, alone and in this model.
struct Known {
  const Record* alone = nullptr;     // that with the most samples
  const Record* in_model = nullptr;  // the newest
};

/// `judge`: of a model, or none.
void recall_task(OpatJob& job, ModelJudge* judge, size_t i) {
  TaskSearch& search = job.searches[i];
  std::map<tune::Trial, Known> known;
  const std::vector<Record> records = job.options.bank->find(bank_key(search.task().workload, job.threads));
  for (const Record& record : records) {
    if (record.outcome == Outcome::infrastructure || !is_present(record, job.providers)) continue;
    Known& slot = known[{record.provider, record.config}];
    const std::string model = model_of(record);
    if (model.empty()) {
      // One wrong answer is enough, see best_of().
      const bool is_wrong = record.outcome == Outcome::wrong;
      if (slot.alone != nullptr && slot.alone->outcome == Outcome::wrong) continue;
      if (slot.alone == nullptr || is_wrong || record.samples_ns.size() > slot.alone->samples_ns.size())
        slot.alone = &record;
    } else if (model == job.model && is_verified(record)) {
      if (slot.in_model == nullptr || record.measured_at > slot.in_model->measured_at) slot.in_model = &record;
    }
  }
  for (const auto& [trial, found] : known) {
    if (trial == search.default_trial() || found.alone == nullptr) continue;
    TriedConfig tried;
    tried.trial = trial;
    tried.outcome = found.alone->outcome;
    tried.log_ratio = found.alone->ratio ? std::log(found.alone->ratio->value) : 0;
    tried.max_error = found.alone->max_error.value_or(0);
    tried.from_bank = true;
    search.tell(tried);
    ++job.result.reused_trials;
    job.result.records.push_back(*found.alone);
    if (judge == nullptr || found.in_model == nullptr || tried.outcome != Outcome::ok) continue;
    job.result.records.push_back(*found.in_model);
    judge->recall(i, trial, recalled_verdict(*found.in_model, search.task().run_ms));
  }
}

}  // namespace

ModelVerdict recalled_verdict(const Record& record, double run_ms) {
  ModelVerdict verdict;
  verdict.runs = 2;  // whatever it says, it is not asked again
  verdict.verdict = record.ratio->high < 1  ? tune::Verdict::faster
                    : record.ratio->low > 1 ? tune::Verdict::slower
                                            : tune::Verdict::tie;
  verdict.effect.own_ms = run_ms;
  for (const double ratio : {record.ratio->low, record.ratio->value, record.ratio->high}) {
    verdict.effect.saved_ms.push_back(run_ms * (1 - ratio));
    verdict.effect.own_after_ms.push_back(run_ms * ratio);
  }
  return verdict;
}

void recall(OpatJob& job, ModelJudge& judge) {
  if (job.options.bank == nullptr) return;
  for (size_t i = 0; i < job.searches.size(); ++i) recall_task(job, &judge, i);
}

void recall(OpatJob& job) {
  if (job.options.bank == nullptr) return;
  for (size_t i = 0; i < job.searches.size(); ++i) recall_task(job, nullptr, i);
}

}  // namespace attune
