// The values that a parameter has in the configs of a sweep, from which generators declare their spaces.
#pragma once

#include "kernel/config.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace attune::generated {

/// With further ones, in ascending order.
std::vector<int64_t> numbers_in(const std::vector<Config>& configs, const std::string& key, std::set<int64_t> values);
/// In order of appearance.
std::vector<std::string> texts_in(const std::vector<Config>& configs, const std::string& key);

}  // namespace attune::generated
