// Dumps of operators that the environment asks for while models run.
#pragma once

#include "job/operator_dump.h"

#include <string>

namespace attune::cli {

/// Writes the operators of the plan where ENABLE_TUNE_DUMP asks for it, and says so on stderr.
void dump_on_request(const Plan& plan, const std::string& model);

}  // namespace attune::cli
