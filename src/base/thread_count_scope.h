// Another thread count for a while, for the calling thread alone.
#pragma once

namespace attune {

/// While this lives, thread_count() in the calling thread is `count`; 0 changes nothing.
class ThreadCountScope {
 public:
  explicit ThreadCountScope(int count);
  ~ThreadCountScope();
  ThreadCountScope(const ThreadCountScope&) = delete;
  ThreadCountScope& operator=(const ThreadCountScope&) = delete;

 private:
  int before_;
};

}  // namespace attune
