#include "base/hash.h"

#include <bit>
#include <cstring>

namespace attune {
namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87u, kPrime2 = 0xC2B2AE3D27D4EB4Fu;

uint64_t mix(uint64_t lane, uint64_t word) { return std::rotl(lane + word * kPrime2, 31) * kPrime1; }

uint64_t load(const std::byte* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

}  // namespace

uint64_t hash_bytes(std::span<const std::byte> bytes, uint64_t seed) {
  // Four independent lanes, so that the multiplications overlap.
  uint64_t lanes[4] = {seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1};
  size_t at = 0;
  for (; at + 32 <= bytes.size(); at += 32)
    for (size_t lane = 0; lane < 4; ++lane) lanes[lane] = mix(lanes[lane], load(bytes.data() + at + 8 * lane));
  uint64_t hash = bytes.size() * kPrime1;
  for (const uint64_t lane : lanes) hash = mix(hash ^ lane, lane);
  for (; at < bytes.size(); ++at) hash = mix(hash, static_cast<uint64_t>(bytes[at]));
  hash ^= hash >> 33;
  hash *= kPrime2;
  return hash ^ (hash >> 29);
}

}  // namespace attune
