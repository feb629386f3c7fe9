#include "bank/device_fingerprint.h"

#include <gtest/gtest.h>

#include <functional>

namespace attune {
namespace {

CpuInfo sample() {
  CpuInfo info;
  info.vendor = "GenuineIntel";
  info.family = 6;
  info.model = 143;
  info.stepping = 8;
  info.isa = {{"avx2", true, true}, {"avx512f", true, true}, {"amx_tile", true, false}};
  info.caches = {{1, CacheType::data, 49152, 64, 12, 2}, {2, CacheType::unified, 2 << 20, 64, 16, 2}};
  info.usable_cores = 2;
  return info;
}

TEST(DeviceText, names_everything_that_decides_speed) {
  EXPECT_EQ(device_text(sample()),
            "cpu vendor=GenuineIntel family=6 model=143 stepping=8; isa=avx2 avx512f; caches=L1d:49152/2 "
            "L2:2097152/2; cores=2; hypervisor=no");
}

TEST(DeviceText, changes_with_each_of_its_parts) {
  const std::string before = device_text(sample());
  for (const std::function<void(CpuInfo&)>& change : std::initializer_list<std::function<void(CpuInfo&)>>{
           [](CpuInfo& info) { info.vendor = "AuthenticAMD"; }, [](CpuInfo& info) { ++info.family; },
           [](CpuInfo& info) { ++info.model; }, [](CpuInfo& info) { ++info.stepping; },
           [](CpuInfo& info) { info.isa[2].usable = true; }, [](CpuInfo& info) { info.isa[0].usable = false; },
           [](CpuInfo& info) { info.caches[1].size_bytes *= 2; }, [](CpuInfo& info) { info.caches[0].shared_by = 1; },
           [](CpuInfo& info) { info.usable_cores = 4; }, [](CpuInfo& info) { info.virtual_machine = true; }}) {
    CpuInfo info = sample();
    change(info);
    EXPECT_NE(device_text(info), before);
  }
}

TEST(DeviceModel, is_the_processor_whatever_may_be_used_of_it) {
  CpuInfo other = sample();
  other.usable_cores = 64;
  other.isa[1].usable = false;
  EXPECT_EQ(device_model(device_text(other)), device_model(device_text(sample())));
  other.stepping = 9;
  EXPECT_NE(device_model(device_text(other)), device_model(device_text(sample())));
}

}  // namespace
}  // namespace attune
