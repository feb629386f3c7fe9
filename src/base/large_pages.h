// Memory for what stays and is read again and again: weights as kernels pack them, the arena of a session.
#pragma once

#include <cstddef>
#include <memory>

namespace attune {

/// Below this, the usual allocator serves as well.
inline constexpr size_t kLargePage = size_t{2} << 20;

/// Zeroed, aligned to kLargePage, on large pages where the system has some: streaming through weights then misses the
/// TLB once in 2 MiB instead of once in 4 KiB. nullptr when there is no memory.
std::shared_ptr<std::byte> allocate_large(size_t bytes);

}  // namespace attune
