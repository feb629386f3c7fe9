#include "base/cores.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

namespace attune {
namespace {

namespace fs = std::filesystem;

/// The quota in one cgroup (version 2) folder.
std::optional<double> quota_in(const fs::path& folder) {
  std::ifstream in(folder / "cpu.max");
  std::string quota;
  double period = 0;
  if (!(in >> quota >> period) || quota == "max" || period <= 0) return std::nullopt;
  const double cores = std::strtod(quota.c_str(), nullptr) / period;
  return cores > 0 ? std::optional(cores) : std::nullopt;
}

/// Our cgroup relative to the mount point; the root when it cannot be told.
fs::path own_cgroup() {
  std::ifstream in("/proc/self/cgroup");
  std::string line;
  while (std::getline(in, line))
    if (line.starts_with("0::/")) return line.substr(4);
  return {};
}

std::optional<double> version_1_quota() {
  std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double quota = 0, period = 0;
  if (quota_file >> quota && period_file >> period && quota > 0 && period > 0) return quota / period;
  return std::nullopt;
}

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

}  // namespace

int affinity_cores() {
  // A fixed cpu_set_t holds 1024 processors; larger machines answer EINVAL until the set is large enough.
  for (int processors = 1024; processors <= 1 << 16; processors *= 2) {
    const std::unique_ptr<cpu_set_t, FreeCpuSet> set(CPU_ALLOC(static_cast<size_t>(processors)));
    const size_t size = CPU_ALLOC_SIZE(static_cast<size_t>(processors));
    if (sched_getaffinity(0, size, set.get()) == 0) return std::max(1, CPU_COUNT_S(size, set.get()));
    if (errno != EINVAL) break;
  }
  return 1;
}

std::optional<double> quota_cores() {
  // A limit on any folder above ours holds for us too.
  const fs::path root = "/sys/fs/cgroup";
  std::optional<double> smallest = version_1_quota();
  fs::path folder = own_cgroup();
  while (true) {
    if (const auto quota = quota_in(root / folder)) smallest = std::min(smallest.value_or(*quota), *quota);
    if (folder.empty()) return smallest;
    folder = folder.parent_path();
  }
}

int usable_cores() {
  const int cores = affinity_cores();
  const auto quota = quota_cores();
  return quota ? std::max(1, std::min(cores, static_cast<int>(std::ceil(std::min(*quota, 65536.0))))) : cores;
}

}  // namespace attune
