#include "runtime/bank_advisor.h"

#include "bank/device_fingerprint.h"
#include "bank/location.h"

namespace attune {

BankKey bank_key(const Workload& workload, int threads) {
  return {device_text(), workload.key(), std::string(numeric_mode_name(workload.mode)), threads};
}

BankAdvisor::BankAdvisor(std::unique_ptr<Bank> bank, int threads) : bank_(std::move(bank)), threads_(threads) {}

std::optional<Advice> BankAdvisor::advise(const Workload& workload) const {
  const std::lock_guard lock(mutex_);
  const auto record = bank_->best(bank_key(workload, threads_), present_environments());
  if (!record || !record->ratio || record->ratio->high >= 1) return std::nullopt;
  return Advice{record->provider, record->config,
                fmt::format("measured {:.2f}x ({:.2f} to {:.2f}) as fast as the default, by the bank {}",
                            1 / record->ratio->value, 1 / record->ratio->high, 1 / record->ratio->low, bank_->name())};
}

}  // namespace attune
