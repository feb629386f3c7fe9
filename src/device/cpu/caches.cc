#include "device/cpu/caches.h"

#include "device/cpu/cpuid.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <string>
#include <tuple>

namespace attune {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// "48K", "2048K", "1M", "64"; zero for anything else.
int64_t parse_size(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0 || value > std::numeric_limits<int32_t>::max()) return 0;
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  return unit == "K" ? value << 10 : unit == "M" ? value << 20 : unit == "G" ? value << 30 : unit.empty() ? value : 0;
}

/// Processors in a list such as "0-3,8,10-11"; zero for anything else.
int count_processors(const std::string& list) {
  int count = 0;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at != end) {
    int first = 0;
    auto result = std::from_chars(at, end, first);
    if (result.ec != std::errc()) return 0;
    int last = first;
    if (result.ptr != end && *result.ptr == '-') result = std::from_chars(result.ptr + 1, end, last);
    if (result.ec != std::errc() || last < first) return 0;
    count += last - first + 1;
    at = result.ptr != end && *result.ptr == ',' ? result.ptr + 1 : result.ptr;
    if (at == result.ptr && at != end) return 0;
  }
  return count;
}

/// The first that we may run on. Not the one we are on: where cores differ, the answer must not change from run to run.
int first_processor() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 0;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<size_t>(i), &set)) return i;
  return 0;
}

void sort_by_level(std::vector<Cache>& caches) {
  std::sort(caches.begin(), caches.end(),
            [](const Cache& a, const Cache& b) { return std::tie(a.level, a.type) < std::tie(b.level, b.type); });
}

}  // namespace

std::vector<Cache> caches_of_kernel(const fs::path& folder) {
  std::vector<Cache> caches;
  std::error_code no_folder;
  for (const auto& entry : fs::directory_iterator(folder, no_folder)) {
    if (!entry.path().filename().string().starts_with("index")) continue;
    const std::string type = first_line(entry.path() / "type");
    Cache cache;
    cache.level = static_cast<int>(parse_size(first_line(entry.path() / "level")));
    cache.type = type == "Data" ? CacheType::data : type == "Instruction" ? CacheType::instruction : CacheType::unified;
    cache.size_bytes = parse_size(first_line(entry.path() / "size"));
    cache.line_bytes = static_cast<int>(parse_size(first_line(entry.path() / "coherency_line_size")));
    cache.ways = static_cast<int>(parse_size(first_line(entry.path() / "ways_of_associativity")));
    cache.shared_by = std::max(1, count_processors(first_line(entry.path() / "shared_cpu_list")));
    if (cache.level > 0 && cache.size_bytes > 0) caches.push_back(cache);
  }
  sort_by_level(caches);
  return caches;
}

std::vector<Cache> caches_of_cpuid() {
  constexpr uint32_t kIntelLeaf = 4, kAmdLeaf = 0x8000001D;  // the same layout
  const uint32_t leaf = (cpuid(kIntelLeaf).eax & 0x1F) != 0 ? kIntelLeaf : kAmdLeaf;
  std::vector<Cache> caches;
  constexpr uint32_t kMostCaches = 16;
  for (uint32_t i = 0; i < kMostCaches; ++i) {
    const CpuidRegisters r = cpuid(leaf, i);
    const uint32_t type = r.eax & 0x1F;
    if (type == 0) break;
    Cache cache;
    cache.level = static_cast<int>(r.eax >> 5 & 7);
    cache.type = type == 1 ? CacheType::data : type == 2 ? CacheType::instruction : CacheType::unified;
    cache.line_bytes = static_cast<int>((r.ebx & 0xFFF) + 1);
    cache.ways = static_cast<int>((r.ebx >> 22) + 1);
    const auto partitions = static_cast<int64_t>((r.ebx >> 12 & 0x3FF) + 1);
    cache.size_bytes = partitions * cache.ways * cache.line_bytes * (static_cast<int64_t>(r.ecx) + 1);
    cache.shared_by = static_cast<int>((r.eax >> 14 & 0xFFF) + 1);
    caches.push_back(cache);
  }
  sort_by_level(caches);
  return caches;
}

std::vector<Cache> detect_caches() {
  const int processor = first_processor();
  auto caches = caches_of_kernel("/sys/devices/system/cpu/cpu" + std::to_string(processor) + "/cache");
  return caches.empty() ? caches_of_cpuid() : caches;
}

}  // namespace attune
