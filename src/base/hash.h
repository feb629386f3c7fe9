// A fast 64-bit hash of bytes, to notice damage and to index; not for secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace attune {

uint64_t hash_bytes(std::span<const std::byte> bytes, uint64_t seed = 0);

}  // namespace attune
