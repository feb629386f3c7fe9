#include "device/cpu/ceiling_kernels.h"

#include "device/cpu/amx_palette.h"

#include <immintrin.h>

// The accumulators are named variables: compilers keep arrays of vectors in memory. They start with different
// values, or one would do for all; not at 2, the fixed point of a / 2 + 1, which needs no computing; and they stay
// normal numbers, because denormal ones are many times slower.
namespace attune {

__attribute__((target("avx512f"))) double fma_f32_avx512(int64_t rounds) {
  const __m512 half = _mm512_set1_ps(0.5f), one = _mm512_set1_ps(1.0f);
  __m512 a0 = _mm512_set1_ps(3), a1 = _mm512_set1_ps(4), a2 = _mm512_set1_ps(5), a3 = _mm512_set1_ps(6),
         a4 = _mm512_set1_ps(7), a5 = _mm512_set1_ps(8), a6 = _mm512_set1_ps(9), a7 = _mm512_set1_ps(10),
         a8 = _mm512_set1_ps(11), a9 = _mm512_set1_ps(12), a10 = _mm512_set1_ps(13), a11 = _mm512_set1_ps(14);
  for (int64_t round = 0; round < rounds; ++round) {
    a0 = _mm512_fmadd_ps(a0, half, one);
    a1 = _mm512_fmadd_ps(a1, half, one);
    a2 = _mm512_fmadd_ps(a2, half, one);
    a3 = _mm512_fmadd_ps(a3, half, one);
    a4 = _mm512_fmadd_ps(a4, half, one);
    a5 = _mm512_fmadd_ps(a5, half, one);
    a6 = _mm512_fmadd_ps(a6, half, one);
    a7 = _mm512_fmadd_ps(a7, half, one);
    a8 = _mm512_fmadd_ps(a8, half, one);
    a9 = _mm512_fmadd_ps(a9, half, one);
    a10 = _mm512_fmadd_ps(a10, half, one);
    a11 = _mm512_fmadd_ps(a11, half, one);
  }
  return static_cast<double>(
      _mm512_cvtss_f32(_mm512_add_ps(_mm512_add_ps(_mm512_add_ps(_mm512_add_ps(a0, a1), _mm512_add_ps(a2, a3)),
                                                   _mm512_add_ps(_mm512_add_ps(a4, a5), _mm512_add_ps(a6, a7))),
                                     _mm512_add_ps(_mm512_add_ps(a8, a9), _mm512_add_ps(a10, a11)))));
}

__attribute__((target("avx2,fma"))) double fma_f32_avx2(int64_t rounds) {
  const __m256 half = _mm256_set1_ps(0.5f), one = _mm256_set1_ps(1.0f);
  __m256 a0 = _mm256_set1_ps(3), a1 = _mm256_set1_ps(4), a2 = _mm256_set1_ps(5), a3 = _mm256_set1_ps(6),
         a4 = _mm256_set1_ps(7), a5 = _mm256_set1_ps(8), a6 = _mm256_set1_ps(9), a7 = _mm256_set1_ps(10),
         a8 = _mm256_set1_ps(11), a9 = _mm256_set1_ps(12), a10 = _mm256_set1_ps(13), a11 = _mm256_set1_ps(14);
  for (int64_t round = 0; round < rounds; ++round) {
    a0 = _mm256_fmadd_ps(a0, half, one);
    a1 = _mm256_fmadd_ps(a1, half, one);
    a2 = _mm256_fmadd_ps(a2, half, one);
    a3 = _mm256_fmadd_ps(a3, half, one);
    a4 = _mm256_fmadd_ps(a4, half, one);
    a5 = _mm256_fmadd_ps(a5, half, one);
    a6 = _mm256_fmadd_ps(a6, half, one);
    a7 = _mm256_fmadd_ps(a7, half, one);
    a8 = _mm256_fmadd_ps(a8, half, one);
    a9 = _mm256_fmadd_ps(a9, half, one);
    a10 = _mm256_fmadd_ps(a10, half, one);
    a11 = _mm256_fmadd_ps(a11, half, one);
  }
  return static_cast<double>(
      _mm256_cvtss_f32(_mm256_add_ps(_mm256_add_ps(_mm256_add_ps(_mm256_add_ps(a0, a1), _mm256_add_ps(a2, a3)),
                                                   _mm256_add_ps(_mm256_add_ps(a4, a5), _mm256_add_ps(a6, a7))),
                                     _mm256_add_ps(_mm256_add_ps(a8, a9), _mm256_add_ps(a10, a11)))));
}

__attribute__((target("sse2"))) double multiply_add_f32_sse2(int64_t rounds) {
  const __m128 half = _mm_set1_ps(0.5f), one = _mm_set1_ps(1.0f);
  __m128 a0 = _mm_set1_ps(3), a1 = _mm_set1_ps(4), a2 = _mm_set1_ps(5), a3 = _mm_set1_ps(6), a4 = _mm_set1_ps(7),
         a5 = _mm_set1_ps(8), a6 = _mm_set1_ps(9), a7 = _mm_set1_ps(10), a8 = _mm_set1_ps(11), a9 = _mm_set1_ps(12),
         a10 = _mm_set1_ps(13), a11 = _mm_set1_ps(14);
  for (int64_t round = 0; round < rounds; ++round) {
    a0 = _mm_add_ps(_mm_mul_ps(a0, half), one);
    a1 = _mm_add_ps(_mm_mul_ps(a1, half), one);
    a2 = _mm_add_ps(_mm_mul_ps(a2, half), one);
    a3 = _mm_add_ps(_mm_mul_ps(a3, half), one);
    a4 = _mm_add_ps(_mm_mul_ps(a4, half), one);
    a5 = _mm_add_ps(_mm_mul_ps(a5, half), one);
    a6 = _mm_add_ps(_mm_mul_ps(a6, half), one);
    a7 = _mm_add_ps(_mm_mul_ps(a7, half), one);
    a8 = _mm_add_ps(_mm_mul_ps(a8, half), one);
    a9 = _mm_add_ps(_mm_mul_ps(a9, half), one);
    a10 = _mm_add_ps(_mm_mul_ps(a10, half), one);
    a11 = _mm_add_ps(_mm_mul_ps(a11, half), one);
  }
  return static_cast<double>(_mm_cvtss_f32(_mm_add_ps(_mm_add_ps(_mm_add_ps(_mm_add_ps(a0, a1), _mm_add_ps(a2, a3)),
                                                                 _mm_add_ps(_mm_add_ps(a4, a5), _mm_add_ps(a6, a7))),
                                                      _mm_add_ps(_mm_add_ps(a8, a9), _mm_add_ps(a10, a11)))));
}

__attribute__((target("avx512f,avx512bf16"))) double dot_bf16_avx512(int64_t rounds) {
  const __m512bh ones = _mm512_cvtne2ps_pbh(_mm512_set1_ps(1.0f), _mm512_set1_ps(1.0f));
  __m512 a0 = _mm512_set1_ps(3), a1 = _mm512_set1_ps(4), a2 = _mm512_set1_ps(5), a3 = _mm512_set1_ps(6),
         a4 = _mm512_set1_ps(7), a5 = _mm512_set1_ps(8), a6 = _mm512_set1_ps(9), a7 = _mm512_set1_ps(10),
         a8 = _mm512_set1_ps(11), a9 = _mm512_set1_ps(12), a10 = _mm512_set1_ps(13), a11 = _mm512_set1_ps(14);
  for (int64_t round = 0; round < rounds; ++round) {
    a0 = _mm512_dpbf16_ps(a0, ones, ones);
    a1 = _mm512_dpbf16_ps(a1, ones, ones);
    a2 = _mm512_dpbf16_ps(a2, ones, ones);
    a3 = _mm512_dpbf16_ps(a3, ones, ones);
    a4 = _mm512_dpbf16_ps(a4, ones, ones);
    a5 = _mm512_dpbf16_ps(a5, ones, ones);
    a6 = _mm512_dpbf16_ps(a6, ones, ones);
    a7 = _mm512_dpbf16_ps(a7, ones, ones);
    a8 = _mm512_dpbf16_ps(a8, ones, ones);
    a9 = _mm512_dpbf16_ps(a9, ones, ones);
    a10 = _mm512_dpbf16_ps(a10, ones, ones);
    a11 = _mm512_dpbf16_ps(a11, ones, ones);
  }
  return static_cast<double>(
      _mm512_cvtss_f32(_mm512_add_ps(_mm512_add_ps(_mm512_add_ps(_mm512_add_ps(a0, a1), _mm512_add_ps(a2, a3)),
                                                   _mm512_add_ps(_mm512_add_ps(a4, a5), _mm512_add_ps(a6, a7))),
                                     _mm512_add_ps(_mm512_add_ps(a8, a9), _mm512_add_ps(a10, a11)))));
}

__attribute__((target("avx512f,avx512vnni"))) double dot_int8_avx512(int64_t rounds) {
  const __m512i ones = _mm512_set1_epi32(0x01010101);
  __m512i a0 = _mm512_set1_epi32(3), a1 = _mm512_set1_epi32(4), a2 = _mm512_set1_epi32(5), a3 = _mm512_set1_epi32(6),
          a4 = _mm512_set1_epi32(7), a5 = _mm512_set1_epi32(8), a6 = _mm512_set1_epi32(9), a7 = _mm512_set1_epi32(10),
          a8 = _mm512_set1_epi32(11), a9 = _mm512_set1_epi32(12), a10 = _mm512_set1_epi32(13),
          a11 = _mm512_set1_epi32(14);
  for (int64_t round = 0; round < rounds; ++round) {
    a0 = _mm512_dpbusd_epi32(a0, ones, ones);
    a1 = _mm512_dpbusd_epi32(a1, ones, ones);
    a2 = _mm512_dpbusd_epi32(a2, ones, ones);
    a3 = _mm512_dpbusd_epi32(a3, ones, ones);
    a4 = _mm512_dpbusd_epi32(a4, ones, ones);
    a5 = _mm512_dpbusd_epi32(a5, ones, ones);
    a6 = _mm512_dpbusd_epi32(a6, ones, ones);
    a7 = _mm512_dpbusd_epi32(a7, ones, ones);
    a8 = _mm512_dpbusd_epi32(a8, ones, ones);
    a9 = _mm512_dpbusd_epi32(a9, ones, ones);
    a10 = _mm512_dpbusd_epi32(a10, ones, ones);
    a11 = _mm512_dpbusd_epi32(a11, ones, ones);
  }
  return static_cast<double>(_mm512_cvtsi512_si32(
      _mm512_add_epi32(_mm512_add_epi32(_mm512_add_epi32(_mm512_add_epi32(a0, a1), _mm512_add_epi32(a2, a3)),
                                        _mm512_add_epi32(_mm512_add_epi32(a4, a5), _mm512_add_epi32(a6, a7))),
                       _mm512_add_epi32(_mm512_add_epi32(a8, a9), _mm512_add_epi32(a10, a11)))));
}

__attribute__((target("amx-tile,amx-bf16"))) double dot_bf16_amx(int64_t rounds) {
  _tile_loadconfig(&kTileConfig);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  for (int64_t round = 0; round < rounds; ++round) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
  return 0;  // tile instructions are never left out
}

__attribute__((target("amx-tile,amx-int8"))) double dot_int8_amx(int64_t rounds) {
  _tile_loadconfig(&kTileConfig);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  for (int64_t round = 0; round < rounds; ++round) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  _tile_release();
  return 0;  // tile instructions are never left out
}

__attribute__((target("avx512f"))) uint64_t read_avx512(std::span<const uint64_t> words) {
  const uint64_t* const end = words.data() + words.size();
  __m512i a0 = _mm512_setzero_si512(), a1 = _mm512_setzero_si512(), a2 = _mm512_setzero_si512(),
          a3 = _mm512_setzero_si512();
  for (const uint64_t* at = words.data(); at != end; at += 32) {
    a0 = _mm512_add_epi64(a0, _mm512_loadu_si512(at));
    a1 = _mm512_add_epi64(a1, _mm512_loadu_si512(at + 8));
    a2 = _mm512_add_epi64(a2, _mm512_loadu_si512(at + 16));
    a3 = _mm512_add_epi64(a3, _mm512_loadu_si512(at + 24));
  }
  return static_cast<uint64_t>(
      _mm512_cvtsi512_si32(_mm512_add_epi64(_mm512_add_epi64(a0, a1), _mm512_add_epi64(a2, a3))));
}

__attribute__((target("avx2"))) uint64_t read_avx2(std::span<const uint64_t> words) {
  const uint64_t* const end = words.data() + words.size();
  __m256i a0 = _mm256_setzero_si256(), a1 = _mm256_setzero_si256(), a2 = _mm256_setzero_si256(),
          a3 = _mm256_setzero_si256();
  for (const uint64_t* at = words.data(); at != end; at += 16) {
    a0 = _mm256_add_epi64(a0, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
    a1 = _mm256_add_epi64(a1, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + 4)));
    a2 = _mm256_add_epi64(a2, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + 8)));
    a3 = _mm256_add_epi64(a3, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + 12)));
  }
  const __m256i sum = _mm256_add_epi64(_mm256_add_epi64(a0, a1), _mm256_add_epi64(a2, a3));
  return static_cast<uint64_t>(_mm256_extract_epi64(sum, 0));
}

__attribute__((target("sse2"))) uint64_t read_sse2(std::span<const uint64_t> words) {
  const uint64_t* const end = words.data() + words.size();
  __m128i a0 = _mm_setzero_si128(), a1 = _mm_setzero_si128(), a2 = _mm_setzero_si128(), a3 = _mm_setzero_si128();
  for (const uint64_t* at = words.data(); at != end; at += 8) {
    a0 = _mm_add_epi64(a0, _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
    a1 = _mm_add_epi64(a1, _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 2)));
    a2 = _mm_add_epi64(a2, _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 4)));
    a3 = _mm_add_epi64(a3, _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 6)));
  }
  return static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_add_epi64(_mm_add_epi64(a0, a1), _mm_add_epi64(a2, a3))));
}

void copy_past_caches(std::span<const uint64_t> src, std::span<uint64_t> dst) {
  // 16 bytes at a time are enough: whole lines are combined before they leave for memory.
  constexpr size_t kWords = sizeof(__m128i) / sizeof(uint64_t);
  const auto load = [&](size_t word) { return _mm_load_si128(reinterpret_cast<const __m128i*>(src.data() + word)); };
  for (size_t word = 0; word < src.size(); word += 4 * kWords) {
    const __m128i w0 = load(word), w1 = load(word + kWords), w2 = load(word + 2 * kWords), w3 = load(word + 3 * kWords);
    auto* out = reinterpret_cast<__m128i*>(dst.data() + word);
    _mm_stream_si128(out, w0);
    _mm_stream_si128(out + 1, w1);
    _mm_stream_si128(out + 2, w2);
    _mm_stream_si128(out + 3, w3);
  }
  _mm_sfence();
}

}  // namespace attune
