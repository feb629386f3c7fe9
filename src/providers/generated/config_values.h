// Reads the values of a config, with an error that names what is wrong.
#pragma once

#include "kernel/config.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace attune::generated {

std::string_view text_of(const Config& config, const char* key);
int64_t number_of(const Config& config, const char* key, int64_t least);
/// "6x64" → 6, 64.
std::pair<int64_t, int64_t> pair_of(const Config& config, const char* key);

}  // namespace attune::generated
