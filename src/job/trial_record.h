// Trials as records of the bank.
#pragma once

#include "bank/record.h"
#include "job/change_effects.h"
#include "kernel/provider.h"
#include "tune/measure/measurer.h"

namespace attune {

/// Who measured.
struct RecordSource {
  std::string session;
  int64_t measured_at = 0;
};

/// Of a trial on the ladder. Its few pairs give no interval of their own: neighbours in time differ by up to a third
/// here and there, so the interval is as wide as that, narrowing with the root of their number.
Record trial_record(const Workload& workload, int threads, const tune::Trial& trial, const tune::TrialResult& result,
                    const Provider& provider, const RecordSource& source);

/// Of a finalist that was judged without a model. The interval of what was not called faster reaches 1. `max_error` is
/// that of its verification.
Record finalist_record(const Workload& workload, int threads, const tune::Finalist& finalist, double max_error,
                       const Provider& provider, const RecordSource& source);

/// Whether a kernel is used in the model that it was judged in.
enum class InModel : uint8_t { used, left_out };

/// What a kernel that was verified before did inside of a model.
struct ModelEvidence {
  std::string model;  // see model_id()
  ChangeEffect effect;
  InModel decision = InModel::left_out;
  size_t calls = 1;      // in one run
  double max_error = 0;  // of its verification,
  double tolerance = 0;  // which was held against this, where the workload does not say
  double confidence = 0.95;
};

/// Its samples are the times of one call in the model, its ratio charges what it costs around it. The interval of what
/// was left out reaches 1, whatever was measured.
Record model_record(const Workload& workload, int threads, const tune::Trial& trial, const ModelEvidence& evidence,
                    const Provider& provider, const RecordSource& source);

/// Of another way to run a part of a model that is no workload of its own. `environment` is that of the provider which
/// runs it by default.
Record partition_record(const BankKey& key, const tune::Trial& trial, const ModelEvidence& evidence,
                        const std::string& environment, const RecordSource& source);

/// Of such a way with which the model computes something else.
Record wrong_record(const BankKey& key, const tune::Trial& trial, const std::string& model, const std::string& problem,
                    const std::string& environment, const RecordSource& source);

}  // namespace attune
