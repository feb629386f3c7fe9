// Whether the whole model gains by what a job found.
#pragma once

#include "job/opat_job.h"

namespace attune {

/// The winners of the tasks as advice; nullptr where there are none.
std::shared_ptr<const Advisor> winners_advice(const TuningResult& result);

/// Whether the whole model gains, and still computes what it did.
void judge_model(OpatJob& job, const Session& before, const Session& after, std::span<const Tensor> inputs);

}  // namespace attune
