#include "graph/lazy_bytes.h"

#include "base/error.h"
#include "base/memory.h"

#include <sys/mman.h>

namespace attune {

std::shared_ptr<const std::byte> LazyBytes::get() {
  const std::lock_guard lock(mutex_);
  if (contents_) return contents_;
  const size_t size = size_;
  check_memory(static_cast<int64_t>(size), [] { return std::string("a constant of the model"); });
  // Pages of its own: on the heap, what is packed meanwhile would lie above it and keep the hole it leaves.
  void* pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw UserError("no memory for a constant of the model ({} bytes)", size);
  std::shared_ptr<std::byte> made(static_cast<std::byte*>(pages), [size](std::byte* p) { munmap(p, size); });
  fill_(made.get());
  contents_ = std::move(made);
  return contents_;
}

void LazyBytes::release() {
  const std::lock_guard lock(mutex_);
  contents_.reset();
}

}  // namespace attune
