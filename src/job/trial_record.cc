#include "job/trial_record.h"

#include "runtime/bank_advisor.h"
#include "tune/measure/tolerance.h"

#include <cmath>

namespace attune {
namespace {

Record start_record(const BankKey& key, const tune::Trial& trial, const std::string& environment,
                    const RecordSource& source) {
  Record record;
  record.key = key;
  record.provider = trial.provider;
  record.environment = environment;
  record.config = trial.config;
  record.session = source.session;
  record.measured_at = source.measured_at;
  record.tool_version = ATTUNE_VERSION;
  return record;
}

Record start_record(const Workload& workload, int threads, const tune::Trial& trial, const Provider& provider,
                    const RecordSource& source) {
  Record record = start_record(bank_key(workload, threads), trial, provider.environment(), source);
  const tune::ResultTolerance tolerance = tune::result_tolerance(workload, 0);
  record.tolerance = std::max(tolerance.of_largest, tolerance.absolute);
  return record;
}

void add_evidence(Record& record, const ModelEvidence& evidence) {
  record.outcome = Outcome::ok;
  record.message = model_message(evidence.model);
  constexpr double kShortestNs = 1;
  for (const double ms : evidence.effect.own_after_ms)
    record.samples_ns.push_back(std::max(kShortestNs, ms * 1e6 / static_cast<double>(evidence.calls)));
  record.max_error = evidence.max_error;
  const Interval interval = evidence.effect.ratio_interval(evidence.confidence);
  record.ratio = Ratio{evidence.effect.ratio(), interval.low, interval.high};
  if (evidence.decision == InModel::left_out) record.ratio->high = std::max(1.0, record.ratio->high);
}

}  // namespace

Record trial_record(const Workload& workload, int threads, const tune::Trial& trial, const tune::TrialResult& result,
                    const Provider& provider, const RecordSource& source) {
  constexpr double kOnePairSpread = 0.3;  // ln
  Record record = start_record(workload, threads, trial, provider, source);
  record.outcome = result.outcome;
  record.message = result.message;
  if (result.outcome != Outcome::ok) return record;
  record.samples_ns = result.candidate_ns;
  record.max_error = result.max_error;
  const double log_ratio = result.log_ratio();
  const double spread = kOnePairSpread / std::sqrt(static_cast<double>(result.log_ratios.size()));
  record.ratio = Ratio{std::exp(log_ratio), std::exp(log_ratio - spread), std::exp(log_ratio + spread)};
  return record;
}

Record finalist_record(const Workload& workload, int threads, const tune::Finalist& finalist, double max_error,
                       const Provider& provider, const RecordSource& source) {
  Record record = start_record(workload, threads, finalist.trial, provider, source);
  record.outcome = finalist.outcome;
  record.message = finalist.outcome == Outcome::ok ? std::string(kJudgedAlone) : finalist.message;
  if (finalist.outcome != Outcome::ok) return record;
  record.samples_ns = finalist.times_ns;
  record.max_error = max_error;
  const tune::Judgement& judgement = finalist.judgement;
  record.ratio =
      Ratio{std::exp(judgement.log_ratio), std::exp(std::min(judgement.log_interval.low, judgement.log_ratio)),
            std::exp(std::max(judgement.log_interval.high, judgement.log_ratio))};
  if (judgement.verdict != tune::Verdict::faster) record.ratio->high = std::max(1.0, record.ratio->high);
  return record;
}

Record model_record(const Workload& workload, int threads, const tune::Trial& trial, const ModelEvidence& evidence,
                    const Provider& provider, const RecordSource& source) {
  Record record = start_record(workload, threads, trial, provider, source);
  add_evidence(record, evidence);
  return record;
}

Record partition_record(const BankKey& key, const tune::Trial& trial, const ModelEvidence& evidence,
                        const std::string& environment, const RecordSource& source) {
  Record record = start_record(key, trial, environment, source);
  record.tolerance = evidence.tolerance;
  add_evidence(record, evidence);
  return record;
}

Record wrong_record(const BankKey& key, const tune::Trial& trial, const std::string& model, const std::string& problem,
                    const std::string& environment, const RecordSource& source) {
  Record record = start_record(key, trial, environment, source);
  record.outcome = Outcome::wrong;
  record.message = fmt::format("{}: {}", model_message(model), problem);
  return record;
}

}  // namespace attune
