#include "device/cpu/vector_turns.h"

#include "device/cpu/ceiling_kernels.h"
#include "device/cpu/cpu_info.h"

#include <algorithm>
#include <chrono>

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;

/// The quicker of what was there and one more run: interference only ever slows down.
void keep_quickest(ArithmeticLoop loop, Clock::duration& best) {
  constexpr int64_t kRounds = 1024;  // some 2 µs
  volatile double sink;
  const Clock::time_point start = Clock::now();
  sink = loop(kRounds);
  best = std::min(best, Clock::now() - start);
  static_cast<void>(sink);
}

int measure() {
  const CpuInfo& info = cpu_info();
  if (!has_isa(info, "avx512f") || !has_isa(info, "avx2") || !has_isa(info, "fma")) return 1;
  // A processor that has just begun to use wide vectors may run them slowly for a while, so that they are slow is only
  // believed when they stay it; that they are not shows soon.
  constexpr int kFewest = 32, kMost = 512;
  Clock::duration wide = Clock::duration::max(), narrow = wide;
  for (int i = 1; i <= kMost; ++i) {
    keep_quickest(fma_f32_avx512, wide);
    keep_quickest(fma_f32_avx2, narrow);
    if (i >= kFewest && wide <= narrow * 3 / 2) return 1;
  }
  return 2;
}

}  // namespace

int wide_vector_turns() {
  static const int turns = measure();
  return turns;
}

}  // namespace attune
