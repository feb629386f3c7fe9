#include "zoo/weights.h"

#include "base/parallel.h"
#include "base/random.h"

#include <algorithm>
#include <cmath>

namespace attune::zoo {
namespace {

constexpr int64_t kBlock = 1 << 14;  // elements drawn by one generator; part of what a seed means

/// A start for the generator of one block, far from those of other blocks and names (FNV-1a, mixed by the generator).
uint64_t name_hash(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

uint64_t block_seed(uint64_t seed, uint64_t name, int64_t block) {
  const uint64_t tensor = Random(Random(seed).next() ^ name).next();
  return Random(tensor ^ static_cast<uint64_t>(block)).next();
}

/// Nearly normal, cut at 3.46 deviations: the sum of four 16-bit uniforms from one draw, of mean 0 and deviation 1. No
/// logarithm, so it is the same on every platform and quick enough for a hundred million weights.
double bell(uint64_t bits) {
  constexpr double kDeviation = 37'837.23;  // sqrt(4 * (2^32 - 1) / 12)
  const uint64_t pairs = (bits & 0x0000ffff0000ffffu) + ((bits >> 16) & 0x0000ffff0000ffffu);
  const auto sum = static_cast<int64_t>((pairs & 0xffffffffu) + (pairs >> 32));
  return static_cast<double>(sum - 2 * 0xffff) / kDeviation;
}

void fill(float* out, int64_t count, const Init& init, Random random) {
  if (init.distribution == Distribution::uniform) {
    const double bound = init.deviation * std::sqrt(3.0);
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(init.mean + bound * (2 * random.uniform() - 1));
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(init.mean + init.deviation * bell(random.next()));
  }
}

void centre(float* filter, int64_t size) {
  if (size < 2) return;  // it would become zero
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += filter[i];
  const double mean = sum / static_cast<double>(size);
  const double restored = std::sqrt(static_cast<double>(size) / static_cast<double>(size - 1));  // the deviation lost
  for (int64_t i = 0; i < size; ++i) filter[i] = static_cast<float>((filter[i] - mean) * restored);
}

}  // namespace

Tensor random_weights(Dims dims, const Init& init, uint64_t seed, std::string_view name) {
  Tensor tensor = Tensor::allocate(DType::f32, std::move(dims));
  auto* const out = tensor.mutable_data<float>();
  const int64_t count = tensor.count();
  const uint64_t hash = name_hash(name);
  const int64_t blocks = (count + kBlock - 1) / kBlock;
  parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kBlock;
      fill(out + first, std::min(kBlock, count - first), init, Random(block_seed(seed, hash, block)));
    }
  });
  if (init.centred)
    for (int64_t row = 0, size = count / tensor.dim(0); row < tensor.dim(0); ++row) centre(out + row * size, size);
  return tensor;
}

}  // namespace attune::zoo
