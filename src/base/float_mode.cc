#include "base/float_mode.h"

#include "base/parallel.h"

#include <omp.h>
#include <xmmintrin.h>

namespace attune {
namespace {

constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;

void flush_here() { _mm_setcsr(_mm_getcsr() | kFlushToZero | kDenormalsAreZero); }

}  // namespace

FlushDenormals::FlushDenormals() : before_(_mm_getcsr()) {
  // Each calling thread has a pool of its own; it is made anew, in parts, when its size changes.
  thread_local int prepared_threads = 1;
  flush_here();
  if (prepared_threads == thread_count()) return;
  prepared_threads = thread_count();
#pragma omp parallel num_threads(prepared_threads)
  flush_here();
}
FlushDenormals::~FlushDenormals() { _mm_setcsr(before_); }

}  // namespace attune
