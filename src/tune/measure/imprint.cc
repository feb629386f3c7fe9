#include "tune/measure/imprint.h"

#include "base/parallel.h"

#include <dirent.h>
#include <fmt/core.h>
#include <xmmintrin.h>

#include <algorithm>
#include <cstdlib>

namespace attune::tune {
namespace {

constexpr uint32_t kStickyFlags = 0x3F;  // exceptions that happened, no setting

/// The numbers that name entries of a folder below /proc.
std::vector<int> numbered_entries(const char* folder) {
  std::vector<int> numbers;
  DIR* dir = opendir(folder);
  if (dir == nullptr) return numbers;
  const int own = dirfd(dir);
  while (const dirent* entry = readdir(dir))
    if (entry->d_name[0] != '.' && std::atoi(entry->d_name) != own) numbers.push_back(std::atoi(entry->d_name));
  closedir(dir);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

uint32_t float_control() {
  uint16_t x87 = 0;
  asm volatile("fnstcw %0" : "=m"(x87));
  return (_mm_getcsr() & ~kStickyFlags) | static_cast<uint32_t>(x87) << 16;
}

}  // namespace

ProcessImprint ProcessImprint::take() {
  ProcessImprint imprint;
  imprint.float_controls.resize(static_cast<size_t>(thread_count()));
  run_team(thread_count(), [&](int rank, int) { imprint.float_controls[static_cast<size_t>(rank)] = float_control(); });
  imprint.threads = static_cast<int>(numbered_entries("/proc/self/task").size());
  imprint.files = numbered_entries("/proc/self/fd");
  return imprint;
}

std::string ProcessImprint::find_change(const ProcessImprint& after) const {
  if (after.threads > threads) return fmt::format("it left {} more threads running", after.threads - threads);
  if (after.files != files)
    return fmt::format("it left {} files open where there were {}, or others", after.files.size(), files.size());
  if (after.float_controls != float_controls) return "it changed how the processor rounds or handles denormals";
  return "";
}

}  // namespace attune::tune
