// A workload that is written out on the command line in place of a model.
#pragma once

#include "tune/measure/measurer.h"

#include <string>

namespace attune::cli {

/// Whether the text means a workload, such as 'Relu@14(f32[1x64]) -> (f32[1x64]) {}', and no model.
bool is_workload(const std::string& text);

/// The workload with the contents that it states. Throws UserError for operands that do not fit its operator.
tune::MeasureTask stated_task(const std::string& text);

}  // namespace attune::cli
