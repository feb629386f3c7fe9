// Finals of a job: the best candidates of each task against its default, in interleaved rounds.
#pragma once

#include "job/opat_job.h"

namespace attune {

/// Judges the best of each task against the default, unless the bank did already; those that save most first, each with
/// its share of the time until this share of the budget is spent.
void judge_kernels(OpatJob& job, double budget_share);

}  // namespace attune
