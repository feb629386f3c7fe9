#include "device/cpu/cpu_info.h"

#include "device/cpu/amx.h"
#include "device/cpu/caches.h"
#include "io/temp_folder.h"

#include <gtest/gtest.h>

#include <csignal>

namespace attune {
namespace {

CpuInfo sample() {
  CpuInfo info;
  info.vendor = "AuthenticAMD";
  info.family = 25;
  info.model = 17;
  info.isa = {{"avx2", true, true}, {"avx512f", true, false}, {"amx_tile", false, false}};
  info.caches = {{1, CacheType::data, 32768, 64, 8, 1},
                 {1, CacheType::instruction, 32768, 64, 8, 1},
                 {2, CacheType::unified, 1 << 20, 64, 8, 1}};
  info.online_cores = 8;
  info.affinity_cores = 4;
  info.usable_cores = 4;
  return info;
}

TEST(CpuInfo, describes_this_machine) {
  const CpuInfo& info = cpu_info();
  EXPECT_EQ(info.vendor.size(), 12u);
  EXPECT_GT(info.family, 0);
  EXPECT_FALSE(info.brand.empty());
  EXPECT_GE(info.usable_cores, 1);
  EXPECT_LE(info.usable_cores, info.affinity_cores);
  EXPECT_GT(info.memory_bytes, 0);
  for (const IsaState& state : info.isa) EXPECT_LE(state.usable, state.in_cpu) << state.name;
  EXPECT_EQ(&info, &cpu_info());
}

TEST(CpuInfo, uses_only_instruction_sets_that_the_kernel_also_reports) {
  const std::string kernel = TempFolder::read("/proc/cpuinfo");
  if (kernel.find("flags") == std::string::npos) GTEST_SKIP() << "no flags in /proc/cpuinfo";
  for (const IsaState& state : cpu_info().isa)
    if (state.usable) {
      EXPECT_NE(kernel.find(" " + std::string(state.name)), std::string::npos) << state.name;
    }
}

TEST(CpuInfo, fingerprint_is_exact_and_stable) {
  CpuInfo info = sample();
  const std::string text = device_fingerprint(info);
  EXPECT_EQ(text, "cpu AuthenticAMD family 25 model 17 isa avx2 caches L1d:32768/1 L1i:32768/1 L2:1048576/1 cores 4");
  EXPECT_EQ(fingerprint_hash(text), fingerprint_hash(device_fingerprint(sample())));
  EXPECT_EQ(fingerprint_hash("a"), "af63dc4c8601ec8c");  // published value of FNV-1a
  info.brand = "another name of the same chip";
  EXPECT_EQ(device_fingerprint(info), text);
  info.isa[1].usable = true;
  EXPECT_NE(device_fingerprint(info), text);
}

TEST(CpuInfo, findings_name_what_costs_speed_with_a_remedy) {
  CpuInfo info = sample();
  ASSERT_EQ(cpu_findings(info).size(), 1u);
  EXPECT_NE(cpu_findings(info)[0].problem.find("avx512f"), std::string::npos);
  info.isa = {{"amx_tile", true, true}};
  info.amx_palette_hidden = true;
  info.quota_cores = 1.5;
  info.caches.clear();
  const auto findings = cpu_findings(info);
  EXPECT_EQ(findings.size(), 4u);  // no avx2, hidden palette, quota, no caches
  for (const Finding& finding : findings) EXPECT_FALSE(finding.remedy.empty()) << finding.problem;
}

TEST(CpuInfo, data_caches_are_found_by_level) {
  const CpuInfo info = sample();
  EXPECT_EQ(data_cache(info, 1)->type, CacheType::data);
  EXPECT_EQ(data_cache(info, 2)->size_bytes, 1 << 20);
  EXPECT_FALSE(data_cache(info, 3).has_value());
}

TEST(Caches, are_read_from_the_folder_of_the_kernel) {
  const TempFolder folder;
  const auto describe = [&](const std::string& name, const std::string& level, const std::string& type,
                            const std::string& size, const std::string& shared) {
    std::filesystem::create_directory(folder.file(name));
    folder.write(name + "/level", level + "\n");
    folder.write(name + "/type", type + "\n");
    folder.write(name + "/size", size + "\n");
    folder.write(name + "/shared_cpu_list", shared + "\n");
    folder.write(name + "/coherency_line_size", "64\n");
    folder.write(name + "/ways_of_associativity", "12\n");
  };
  describe("index0", "3", "Unified", "32M", "0-3,8,10-11");
  describe("index1", "1", "Instruction", "32K", "0");
  describe("index2", "1", "Data", "48K", "0,4");
  describe("index3", "2", "Unified", "nonsense", "0");
  describe("power", "2", "Unified", "1M", "0");
  const auto caches = caches_of_kernel(folder.file(""));
  ASSERT_EQ(caches.size(), 3u);
  EXPECT_EQ(caches[0].type, CacheType::data);
  EXPECT_EQ(caches[0].size_bytes, 48 << 10);
  EXPECT_EQ(caches[0].shared_by, 2);
  EXPECT_EQ(caches[0].ways, 12);
  EXPECT_EQ(caches[1].type, CacheType::instruction);
  EXPECT_EQ(caches[2].size_bytes, 32 << 20);
  EXPECT_EQ(caches[2].shared_by, 7);
  EXPECT_TRUE(caches_of_kernel(folder.file("none")).empty());
}

TEST(Caches, of_cpuid_agree_with_the_kernel_on_the_first_level) {
  const auto by_kernel = caches_of_kernel("/sys/devices/system/cpu/cpu0/cache");
  const auto by_cpuid = caches_of_cpuid();
  if (by_kernel.empty() || by_cpuid.empty()) GTEST_SKIP() << "one of them tells nothing here";
  EXPECT_EQ(by_cpuid[0].size_bytes, by_kernel[0].size_bytes);
  EXPECT_EQ(by_cpuid[0].line_bytes, by_kernel[0].line_bytes);
}

TEST(Amx, is_probed_without_harm_even_where_children_leave_no_status) {
  const bool usable = has_isa(cpu_info(), "amx_tile");
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(try_amx({}), usable);
  std::signal(SIGCHLD, before);
}

}  // namespace
}  // namespace attune
