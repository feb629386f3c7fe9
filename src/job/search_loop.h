// The search of a job: which task is measured next, for how long.
#pragma once

#include "job/opat_job.h"

namespace attune {

enum class SearchEnd : uint8_t { nothing_promises, limit };

/// Measures candidates of the tasks that promise most until this many seconds of the job have passed, its trials are
/// spent or nothing promises enough. Every trial is kept before the next one begins.
SearchEnd search_tasks(OpatJob& job, double until_s);

}  // namespace attune
