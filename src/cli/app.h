// The frame around the verbs: parsing, help, and the one place where errors become messages and exit codes.
#pragma once

#include "cli/verbs.h"

#include <span>

namespace attune::cli {

/// Parses the command line, runs the chosen verb and returns the exit code of the process. Never throws.
int run_command_line(int argc, const char* const* argv, std::span<const Verb> verbs);

}  // namespace attune::cli
