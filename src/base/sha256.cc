#include "base/sha256.h"

#include <array>
#include <bit>
#include <cstdint>

namespace attune {
namespace {

constexpr size_t kBlockBytes = 64;

using State = std::array<uint32_t, 8>;

/// The first 32 bits of the fractional part of the root of order `order` of the n-th prime: where FIPS 180-4 takes its
/// constants from. Integer arithmetic only, so that they are exact.
template <int order, size_t count> constexpr std::array<uint32_t, count> fractions_of_prime_roots() {
  std::array<uint32_t, count> out{};
  size_t found = 0;
  for (uint64_t candidate = 2; found < count; ++candidate) {
    bool prime = true;
    for (uint64_t d = 2; d * d <= candidate; ++d) prime &= candidate % d != 0;
    if (!prime) continue;
    // The largest r with r^order <= candidate * 2^(32 * order); its low 32 bits are the fraction.
    uint64_t root = 0;
    for (int bit = 36; bit >= 0; --bit) {
      const unsigned __int128 trial = root | uint64_t{1} << bit;
      const unsigned __int128 limit = static_cast<unsigned __int128>(candidate) << (32 * order);
      const unsigned __int128 square = trial * trial;
      if (order == 2 ? square <= limit : square <= limit / trial) root = static_cast<uint64_t>(trial);
    }
    out[found++] = static_cast<uint32_t>(root);
  }
  return out;
}

constexpr State kInitial = fractions_of_prime_roots<2, 8>();
constexpr auto kRound = fractions_of_prime_roots<3, 64>();

void absorb(State& state, const unsigned char* block) {
  std::array<uint32_t, 64> w{};
  for (size_t i = 0; i < 16; ++i)
    for (size_t b = 0; b < 4; ++b) w[i] = w[i] << 8 | block[4 * i + b];
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t t1 =
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const State worked = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < worked.size(); ++i) state[i] += worked[i];
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  State state = kInitial;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t at = 0;
  for (; at + kBlockBytes <= bytes.size(); at += kBlockBytes) absorb(state, data + at);

  // The rest, a one bit, zeros, and the length in bits as the last eight bytes of a block.
  std::string tail(bytes.substr(at));
  tail += '\x80';
  while (tail.size() % kBlockBytes != kBlockBytes - 8) tail += '\0';
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) tail += static_cast<char>(bits >> shift & 0xFF);
  for (at = 0; at < tail.size(); at += kBlockBytes)
    absorb(state, reinterpret_cast<const unsigned char*>(tail.data()) + at);

  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4) hex += kDigits[word >> shift & 0xF];
  return hex;
}

}  // namespace attune
