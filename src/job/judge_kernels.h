// Finals of a job: the best candidates of each task against its default, in interleaved rounds.
#pragma once

#include "job/opat_job.h"

#include <map>

namespace attune {

/// Judges the best of each task against the default, unless it is among the judged ones of the bank; those that save most first, each with
/// its share of the time until this share of the budget is spent.
void judge_kernels(OpatJob& job, const std::map<size_t, std::vector<Record>>& judged, double budget_share);

}  // namespace attune
