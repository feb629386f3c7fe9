// Advice out of a knowledge bank.
#pragma once

#include "bank/bank.h"
#include "runtime/advisor.h"
#include "runtime/plan.h"

#include <memory>
#include <mutex>
#include <string_view>

namespace attune {

/// Applies a record only when its whole key is that of the workload on this machine with these threads, its provider's
/// environment is the present one, its answer was verified, and it was faster than the default beyond its interval
/// inside of a model. What was faster alone often loses there. A configuration that lost in one model is not used in
/// others. Where no model has a verdict, finals without one (attune tune --from-dump) count when they were clear.
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

/// The message of a record that was measured inside of a model, which is how such records are told apart.
std::string model_message(const std::string& model);
/// The message of a record out of finals without a model.
inline constexpr std::string_view kJudgedAlone = "judged alone";
bool was_judged_alone(const Record& record);
/// The model that a record was measured in; empty: it was measured alone.
std::string model_of(const Record& record);
/// Names a model as a plan has it: the same for the same workloads in the same order.
std::string model_id(const Plan& plan);

}  // namespace attune
