#include "base/large_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace attune {

std::shared_ptr<std::byte> allocate_large(size_t bytes) {
  constexpr size_t kPage = 4096;
  const size_t size = (bytes + kPage - 1) / kPage * kPage;
  void* pages = mmap(nullptr, size + kLargePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  // What lies before and behind the aligned part goes back.
  auto* begin = static_cast<std::byte*>(pages);
  const size_t before = (kLargePage - reinterpret_cast<uintptr_t>(begin) % kLargePage) % kLargePage;
  if (before > 0) munmap(begin, before);
  begin += before;
  munmap(begin + size, kLargePage - before);
  madvise(begin, size, MADV_HUGEPAGE);  // a wish; where it is refused, small pages serve
  return {begin, [size](std::byte* p) { munmap(p, size); }};
}

}  // namespace attune
