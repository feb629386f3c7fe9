#include "base/memory.h"

#include "base/error.h"

#include <malloc.h>

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

namespace attune {
namespace {

// Asking the system takes tens of microseconds, so only requests that could matter do.
constexpr int64_t kAlwaysAllowedBytes = int64_t{64} << 20;
constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

int64_t kib_field(const char* file, const std::string& field) {
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line)) {
    if (line.compare(0, field.size(), field) != 0) continue;
    std::istringstream words(line.substr(field.size()));
    int64_t kib = 0;
    if (words >> kib) return kib * 1024;
  }
  return -1;
}

int64_t number_in(const char* file) {
  std::ifstream in(file);
  int64_t number = 0;
  return in >> number ? number : -1;
}

int64_t cgroup_headroom() {
  const int64_t limit = number_in("/sys/fs/cgroup/memory.max");  // "max" reads as no number
  const int64_t used = number_in("/sys/fs/cgroup/memory.current");
  return limit > 0 && used >= 0 ? std::max<int64_t>(0, limit - used) : kUnlimited;
}

int64_t address_space_headroom() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const int64_t used = kib_field("/proc/self/status", "VmSize:");
  return std::max<int64_t>(0, static_cast<int64_t>(limit.rlim_cur) - std::max<int64_t>(0, used));
}

}  // namespace

int64_t available_memory_bytes() {
  const int64_t system = kib_field("/proc/meminfo", "MemAvailable:");
  return std::min({system < 0 ? kUnlimited : system, cgroup_headroom(), address_space_headroom()});
}

void check_memory(int64_t bytes, const std::function<std::string()>& what) {
  if (bytes <= kAlwaysAllowedBytes) return;
  const int64_t available = available_memory_bytes();
  if (bytes <= available) return;
  throw UserError("{} needs {} MiB but only {} MiB of memory are available; use smaller shapes or a larger machine",
                  what(), bytes >> 20, available >> 20);
}

void return_freed_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace attune
