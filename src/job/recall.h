// What the bank knows of a job's tasks already.
#pragma once

#include "job/opat_job.h"

namespace attune {

/// What is in the bank is not measured again: failures and losers are skipped, winners win.
void recall(OpatJob& job);

}  // namespace attune
