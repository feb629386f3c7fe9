// The machine as records name it: a text that holds everything of the device that decides which kernel is fastest.
#pragma once

#include "device/cpu/cpu_info.h"

#include <string>
#include <string_view>

namespace attune {

/// "cpu vendor=GenuineIntel family=6 model=143 stepping=8; isa=avx2 ...; caches=L1d:49152/2 ...; cores=2;
/// hypervisor=yes". Finer than device_fingerprint(), which decides whether code runs: a stepping and a hypervisor
/// change speeds.
std::string device_text(const CpuInfo& info = cpu_info());

/// The part that names the processor, whatever this process may use of it: what merging compares.
std::string_view device_model(std::string_view device);

}  // namespace attune
