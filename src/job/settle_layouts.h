// The layouts of a model as a part of a tuning job: settled before kernels are searched, since these depend on them.
#pragma once

#include "job/layout_record.h"
#include "job/opat_job.h"

namespace attune {

/// What the layouts of the model should be: known by the bank, or measured.
std::optional<LayoutFindings> settle_layouts(const Session& before, std::span<const Tensor> inputs,
                                             const OpatOptions& options, const JobClock& clock);

/// Says what was found, and remembers what was measured.
void tell_layouts(OpatJob& job, const LayoutFindings& layouts, const LayoutQuestion& question);

/// The layouts are part of what was tuned: the whole is measured against the model as it was, and decides.
void count_layouts(OpatJob& job, const LayoutFindings& layouts, const Session& before, const Session& after,
                   std::span<const Tensor> inputs);

}  // namespace attune
