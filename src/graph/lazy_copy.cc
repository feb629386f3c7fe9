#include "graph/lazy_copy.h"

#include "base/error.h"
#include "base/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace attune {

std::shared_ptr<const std::byte> LazyCopy::get() {
  const std::lock_guard lock(mutex_);
  if (copy_) return copy_;
  const size_t size = source_.size();
  check_memory(static_cast<int64_t>(size), [] { return std::string("a constant of the model"); });
  // Pages of its own: on the heap, what is packed meanwhile would lie above it and keep the hole it leaves.
  void* pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw UserError("no memory for a constant of the model ({} bytes)", size);
  auto* bytes = static_cast<std::byte*>(pages);
  copy_ =
      std::shared_ptr<const std::byte>(bytes, [size](const std::byte* p) { munmap(const_cast<std::byte*>(p), size); });
  // In pieces, so that source and copy are never both resident.
  constexpr size_t kPiece = size_t{4} << 20;
  for (size_t at = 0; at < size; at += kPiece) {
    const auto piece = source_.subspan(at, std::min(kPiece, size - at));
    std::memcpy(bytes + at, piece.data(), piece.size());
    if (file_ != nullptr) file_->release(piece);
  }
  return copy_;
}

void LazyCopy::release() {
  const std::lock_guard lock(mutex_);
  copy_.reset();
}

}  // namespace attune
