// Trials as records of the bank.
#pragma once

#include "bank/record.h"
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

/// Of a finalist, whose interval comes from interleaved rounds. `max_error` is that of its verification.
Record finalist_record(const Workload& workload, int threads, const tune::Finalist& finalist, double max_error,
                       const Provider& provider, const RecordSource& source);

/// Whether a record has enough samples to come from finals.
bool is_final(const Record& record);

}  // namespace attune
