// What is said of each task in the end.
#pragma once

#include "job/model_judge.h"
#include "job/opat_job.h"

namespace attune {

/// Writes winners, ratios and verdicts into the results of the tasks. `chosen` is what the model uses.
void settle_tasks(OpatJob& job, const ModelJudge& judge, const Choices& chosen);

}  // namespace attune
