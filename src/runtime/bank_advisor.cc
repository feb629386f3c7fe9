#include "runtime/bank_advisor.h"

#include "bank/device_fingerprint.h"
#include "bank/location.h"
#include "base/sha256.h"

#include <set>

namespace attune {
namespace {

constexpr std::string_view kInModel = "in model ";

using TrialOf = std::pair<std::string, Config>;  // provider and config

/// The newest record of each configuration in each model.
std::map<std::pair<TrialOf, std::string>, const Record*> newest_verdicts(const std::vector<Record>& records,
                                                                         const EnvironmentOf& environment_of) {
  std::map<std::pair<TrialOf, std::string>, const Record*> newest;
  for (const Record& record : records) {
    const std::string model = model_of(record);
    if (model.empty() || !record.ratio || environment_of(record.provider) != record.environment) continue;
    const Record*& slot = newest[{{record.provider, record.config}, model}];
    if (slot == nullptr || record.measured_at > slot->measured_at) slot = &record;
  }
  return newest;
}

/// Those that won wherever they were judged, and what says that an answer was wrong.
std::vector<Record> winners_in_models(const std::vector<Record>& records, const EnvironmentOf& environment_of) {
  const auto newest = newest_verdicts(records, environment_of);
  std::set<TrialOf> lost;
  for (const auto& [key, record] : newest)
    if (record->ratio->high >= 1) lost.insert(key.first);
  std::vector<Record> result;
  for (const auto& [key, record] : newest)
    if (!lost.contains(key.first)) result.push_back(*record);
  for (const Record& record : records)
    if (record.outcome == Outcome::wrong) result.push_back(record);
  return result;
}

/// What finals without a model called faster by so much that a model should gain as well, and no model has judged.
std::vector<Record> winners_alone(const std::vector<Record>& records, const EnvironmentOf& environment_of) {
  constexpr double kClearly = 0.95;  // ratio to the default
  std::set<TrialOf> judged;
  for (const auto& [key, record] : newest_verdicts(records, environment_of)) judged.insert(key.first);
  std::vector<Record> result;
  for (const Record& record : records)
    if (record.outcome == Outcome::wrong || (was_judged_alone(record) && record.ratio->high < kClearly &&
                                             !judged.contains({record.provider, record.config})))
      result.push_back(record);
  return result;
}

}  // namespace

BankKey bank_key(const Workload& workload, int threads) {
  return {device_text(), workload.key(), std::string(numeric_mode_name(workload.mode)), threads};
}

bool was_judged_alone(const Record& record) {
  return record.outcome == Outcome::ok && record.ratio && record.message == kJudgedAlone;
}

std::string model_message(const std::string& model) { return std::string(kInModel) + model; }

std::string model_of(const Record& record) {
  if (record.outcome != Outcome::ok || !record.message.starts_with(kInModel)) return "";
  return record.message.substr(kInModel.size());
}

std::string model_id(const Plan& plan) {
  constexpr size_t kDigits = 16;
  std::string text;
  for (const Step& step : plan.steps)
    if (step.node != nullptr) text += step.workload.key() + "\n";
  return sha256_hex(text).substr(0, kDigits);
}

BankAdvisor::BankAdvisor(std::unique_ptr<Bank> bank, int threads) : bank_(std::move(bank)), threads_(threads) {}

std::optional<Advice> BankAdvisor::advise(const Workload& workload) const {
  const std::lock_guard lock(mutex_);
  const EnvironmentOf present = present_environments();
  const std::vector<Record> records = bank_->find(bank_key(workload, threads_));
  const std::vector<Record> in_models = winners_in_models(records, present);
  const std::vector<Record> alone = winners_alone(records, present);
  const Record* record = best_of(in_models, present);
  const bool is_of_a_model = record != nullptr && record->ratio && record->ratio->high < 1;
  if (!is_of_a_model) record = best_of(alone, present);
  if (record == nullptr || !record->ratio || record->ratio->high >= 1) return std::nullopt;
  return Advice{record->provider, record->config,
                fmt::format("measured {:.2f}x ({:.2f} to {:.2f}) as fast as the default {}, by the bank {}",
                            1 / record->ratio->value, 1 / record->ratio->high, 1 / record->ratio->low,
                            is_of_a_model ? "inside of a model" : "alone", bank_->name())};
}

}  // namespace attune
