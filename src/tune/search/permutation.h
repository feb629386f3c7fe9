// A random order of 0 .. size-1 without a list of it: a Feistel network over the next power of four, walking on where
// it leaves the range (Black and Rogaway, 2002).
#pragma once

#include <cstdint>

namespace attune::tune {

class IndexPermutation {
 public:
  IndexPermutation(uint64_t size, uint64_t seed) : size_(size), seed_(seed) {
    while (half_bits_ < 32 && uint64_t{1} << (2 * half_bits_) < size) ++half_bits_;
  }

  uint64_t operator()(uint64_t place) const {
    do place = encrypt(place);
    while (place >= size_);
    return place;
  }

 private:
  uint64_t encrypt(uint64_t value) const {
    const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
    uint64_t left = value >> half_bits_, right = value & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      uint64_t mixed = (right + seed_ + round * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
      mixed = (mixed ^ (mixed >> 31) ^ seed_) * 0x94d049bb133111ebu;
      const uint64_t next = left ^ ((mixed >> 29) & mask);
      left = right;
      right = next;
    }
    return left << half_bits_ | right;
  }

  uint64_t size_, seed_;
  int half_bits_ = 1;
};

}  // namespace attune::tune
