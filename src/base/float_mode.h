// Denormal numbers make floating-point instructions up to a hundred times slower and carry no information in a network.
#pragma once

namespace attune {

/// While this lives, the calling thread flushes denormals to zero, and so does the pool that parallel_for gives it. The
/// caller's own setting comes back at the end; the pool keeps it. Cheap when the pool is prepared already.
class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  unsigned before_;
};

}  // namespace attune
