// What the bank knows of a job's tasks already.
#pragma once

#include "job/model_judge.h"
#include "job/opat_job.h"

namespace attune {

/// What is in the bank is not measured again: failures and losers are skipped, and what was judged inside of this very
/// model is judged.
void recall(OpatJob& job, ModelJudge& judge);
/// Of a job without a model.
void recall(OpatJob& job);

/// What a record says of a candidate in a model, where what it replaces takes this long in a run.
ModelVerdict recalled_verdict(const Record& record, double run_ms);

}  // namespace attune
