// Finals of tasks without a model: the best candidates of each against its default, in interleaved rounds.
#pragma once

#include "job/opat_job.h"

namespace attune {

/// Judges the best of each task, those that save most first, each with its share of the time that is left, unless the
/// bank has a verdict on it. The verdicts are kept.
void judge_alone(OpatJob& job);

}  // namespace attune
