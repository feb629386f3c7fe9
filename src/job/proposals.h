// Which candidates of a job the model judges next.
#pragma once

#include "job/model_judge.h"
#include "job/opat_job.h"

#include <set>

namespace attune {

/// Tasks with kernels that are right alone, but with which the model computes something else.
using Unfit = std::set<std::pair<size_t, tune::Trial>>;

/// At most one for each task: the best of its finalists that nobody judged in this model and that may beat what is
/// accepted there.
Choices propose(const OpatJob& job, const ModelJudge& judge, const Unfit& unfit);

}  // namespace attune
