#include "base/float_mode.h"

#include "base/parallel.h"

#include <omp.h>
#include <xmmintrin.h>

namespace attune {

void flush_denormals_in_pool() {
  constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
  thread_local int prepared_threads = 0;  // each calling thread has a pool of its own
  if (prepared_threads >= thread_count()) return;
  prepared_threads = thread_count();
#pragma omp parallel num_threads(prepared_threads)
  _mm_setcsr(_mm_getcsr() | kFlushToZero | kDenormalsAreZero);
}

}  // namespace attune
