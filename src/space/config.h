// One point of a provider's choices for a workload: which implementation, with which parameters.
#pragma once

#include <map>
#include <string>

namespace attune {

/// Parameter → value, both as text: it is printed, stored in plans and banks, and compared. Empty where there is no
/// choice.
using Config = std::map<std::string, std::string>;

std::string to_text(const Config& config);  // "impl=brgconv:avx512_core, layout=nhwc"

}  // namespace attune
