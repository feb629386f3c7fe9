// The last comparison: interleaved rounds of the finalists, the default and its hidden duplicate.
#pragma once

#include "tune/measure/worker_link.h"

namespace attune::tune {

Finals run_finals(WorkerLink& link, const MeasureTask& task, const Trial& default_trial,
                  std::span<const Trial> finalists, const FinalsOptions& options);

}  // namespace attune::tune
