// Times on the command line.
#pragma once

#include <string>

namespace attune::cli {

/// "60s", "5m", "1h" or "90" (seconds), as --budget has them; in seconds. Throws UserError for anything else.
double parse_seconds(const std::string& text);

}  // namespace attune::cli
