// The caches of one core.
#pragma once

#include "device/cpu/cpu_info.h"

#include <filesystem>
#include <vector>

namespace attune {

/// As the kernel describes them in a folder such as /sys/devices/system/cpu/cpu0/cache; empty when it does not.
std::vector<Cache> caches_of_kernel(const std::filesystem::path& folder);
/// As CPUID describes them; empty when it does not.
std::vector<Cache> caches_of_cpuid();
/// From the kernel, else from CPUID; by level, data before instructions.
std::vector<Cache> detect_caches();

}  // namespace attune
