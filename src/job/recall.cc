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

void recall_task(OpatJob& job, size_t i) {
  TaskSearch& search = job.searches[i];
  std::map<tune::Trial, const Record*> latest;
  const std::vector<Record> records = job.options.bank->find(bank_key(search.task().workload, job.threads));
  for (const Record& record : records) {
    if (record.outcome == Outcome::infrastructure || !is_present(record, job.providers)) continue;
    auto& slot = latest[{record.provider, record.config}];
    if (slot == nullptr || record.samples_ns.size() > slot->samples_ns.size()) slot = &record;
  }
  for (const auto& [trial, record] : latest) {
    if (trial == search.default_trial()) continue;
    TriedConfig tried;
    tried.trial = trial;
    tried.outcome = record->outcome;
    tried.log_ratio = record->ratio ? std::log(record->ratio->value) : 0;
    tried.max_error = record->max_error.value_or(0);
    tried.from_bank = true;
    search.tell(tried);
    ++job.result.reused_trials;
    job.result.records.push_back(*record);
    if (is_final(*record)) job.judged[i].push_back(*record);
  }
}

}  // namespace

void recall(OpatJob& job) {
  if (job.options.bank == nullptr) return;
  for (size_t i = 0; i < job.searches.size(); ++i) recall_task(job, i);
}

}  // namespace attune
