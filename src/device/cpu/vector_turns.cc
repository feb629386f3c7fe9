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
  constexpr int kRepeats = 32;
  Clock::duration wide = Clock::duration::max(), narrow = wide;
  for (int i = 0; i < kRepeats; ++i) {
    keep_quickest(fma_f32_avx512, wide);
    keep_quickest(fma_f32_avx2, narrow);
  }
  return wide > narrow * 3 / 2 ? 2 : 1;
}

}  // namespace

int wide_vector_turns() {
  static const int turns = measure();
  return turns;
}

}  // namespace attune
