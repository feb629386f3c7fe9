// Advice out of a knowledge bank.
#pragma once

#include "bank/bank.h"
#include "runtime/advisor.h"
#include "runtime/plan.h"

#include <memory>
#include <mutex>

namespace attune {

/// Applies a record only when its whole key is that of the workload on this machine with these threads, its provider's
/// environment is the present one, its answer was verified, and it was faster than the default beyond its interval
/// inside of a model, or in finals of its own that stand for one (kNoModel). What was faster alone often loses in a
/// model; a configuration that lost in one is not used in others.
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

/// In place of a model, where a kernel was judged alone, as operators of dumps are.
inline constexpr const char* kNoModel = "none";

/// The message of a record that was measured inside of a model, which is how such records are told apart.
std::string model_message(const std::string& model);
/// The model that a record was measured in; empty: it was measured alone.
std::string model_of(const Record& record);
/// Names a model as a plan has it: the same for the same workloads in the same order.
std::string model_id(const Plan& plan);

}  // namespace attune
