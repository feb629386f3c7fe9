// The result of a tuning job as one page that needs nothing else: no network, no files beside it.
#pragma once

#include "job/tuning_result.h"

#include <string>

namespace attune {

std::string tuning_report_html(const TuningResult& result);

}  // namespace attune
