// Loops that do nothing but reach a ceiling of the processor. Each is compiled for its instruction set and may only be
// called where that is usable.
#pragma once

#include <cstdint>
#include <span>

namespace attune {

/// Does `rounds` rounds of arithmetic in registers. The result depends on all of it, so that nothing is left out.
using ArithmeticLoop = double (*)(int64_t rounds);

double fma_f32_avx512(int64_t rounds);
double fma_f32_avx2(int64_t rounds);
double multiply_add_f32_sse2(int64_t rounds);
double dot_bf16_avx512(int64_t rounds);
double dot_int8_avx512(int64_t rounds);
double dot_bf16_amx(int64_t rounds);
double dot_int8_amx(int64_t rounds);

// Operations in a round, a multiplication and an addition counted each.
constexpr double kAccumulators = 12;  // hides the latency on two ports, and fits into 16 registers
constexpr double kFmaAvx512Ops = kAccumulators * 16 * 2;
constexpr double kFmaAvx2Ops = kAccumulators * 8 * 2;
constexpr double kFmaSse2Ops = kAccumulators * 4 * 2;
constexpr double kDotBf16Avx512Ops = kAccumulators * 32 * 2;
constexpr double kDotInt8Avx512Ops = kAccumulators * 64 * 2;
constexpr double kDotBf16AmxOps = 4.0 * 16 * 16 * 32 * 2;  // four accumulating tiles
constexpr double kDotInt8AmxOps = 4.0 * 16 * 16 * 64 * 2;

/// Reads the words, whose number is a multiple of 64, and returns something that depends on all of them.
using ReadLoop = uint64_t (*)(std::span<const uint64_t> words);
uint64_t read_avx512(std::span<const uint64_t> words);
uint64_t read_avx2(std::span<const uint64_t> words);
uint64_t read_sse2(std::span<const uint64_t> words);

/// Copies past the caches (non-temporal stores). Both spans have the same size, a multiple of 64 words, aligned to 64
/// bytes.
void copy_past_caches(std::span<const uint64_t> src, std::span<uint64_t> dst);

}  // namespace attune
