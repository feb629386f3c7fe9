// Advice out of a knowledge bank.
#pragma once

#include "bank/bank.h"
#include "runtime/advisor.h"

#include <memory>
#include <mutex>

namespace attune {

/// Applies a record only when its whole key is that of the workload on this machine with these threads, its provider's
/// environment is the present one, its answer was verified, and it was faster than the default beyond its interval.
class BankAdvisor final : public Advisor {
 public:
  BankAdvisor(std::unique_ptr<Bank> bank, int threads);
  std::optional<Advice> advise(const Workload& workload) const override;

 private:
  std::unique_ptr<Bank> bank_;
  int threads_;
  mutable std::mutex mutex_;  // banks are not thread-safe
};

/// What a measurement of this workload is filed under on this machine, with these threads.
BankKey bank_key(const Workload& workload, int threads);

}  // namespace attune
