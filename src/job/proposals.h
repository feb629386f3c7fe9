// Which candidates of a job the model judges next.
#pragma once

#include "job/model_stage.h"
#include "job/opat_job.h"

namespace attune {

/// At most one for each task: the best of its finalists that nobody judged in this model and that may beat what is
/// accepted there.
Choices propose(const OpatJob& job, const ModelJudge& judge, const Unfit& unfit);

}  // namespace attune
