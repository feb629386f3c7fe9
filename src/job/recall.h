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

}  // namespace attune
