// The search of a job: which task is measured next, for how long.
#pragma once

#include "job/opat_job.h"

namespace attune {

/// Measures candidates of the tasks that promise most until this share of the budget is spent or nothing promises
/// enough. Every trial is kept before the next one begins.
void search_tasks(OpatJob& job, double budget_share);

}  // namespace attune
