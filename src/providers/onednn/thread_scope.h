// How many threads oneDNN uses.
#pragma once

#include <omp.h>

namespace attune::onednn {

/// oneDNN reads OpenMP's setting for the calling thread: when it makes a primitive, whose scratch memory depends on it,
/// and again when it runs one, which must then not be with more. While this lives, the setting is `count`.
class ThreadScope {
 public:
  explicit ThreadScope(int count) : before_(omp_get_max_threads()), changed_(count != before_) {
    if (changed_) omp_set_num_threads(count);
  }
  ~ThreadScope() {
    if (changed_) omp_set_num_threads(before_);
  }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
  bool changed_;
};

}  // namespace attune::onednn
