// Blocked fp32 matrix product: register tile, cache blocks, order of the block loops, packing.
#include "family.h"

#include <array>
#include <cstring>

namespace attune::bench {
namespace {

using Vec = float __attribute__((vector_size(64), aligned(4), may_alias));
constexpr int kLanes = 16;

struct Tile {
  int64_t k, lda, ldb, ldc;
};

template <int MR, int NV> void multiply_tile(const float* a, const float* b, float* c, const Tile& tile) {
  Vec sum[MR][NV];
  for (int i = 0; i < MR; ++i)
    for (int j = 0; j < NV; ++j) sum[i][j] = *reinterpret_cast<const Vec*>(c + i * tile.ldc + j * kLanes);
  for (int64_t k = 0; k < tile.k; ++k) {
    Vec right[NV];
    for (int j = 0; j < NV; ++j) right[j] = *reinterpret_cast<const Vec*>(b + k * tile.ldb + j * kLanes);
    for (int i = 0; i < MR; ++i) {
      const Vec left = a[i * tile.lda + k] - Vec{};
      for (int j = 0; j < NV; ++j) sum[i][j] += left * right[j];
    }
  }
  for (int i = 0; i < MR; ++i)
    for (int j = 0; j < NV; ++j) *reinterpret_cast<Vec*>(c + i * tile.ldc + j * kLanes) = sum[i][j];
}

using TileFunction = void (*)(const float*, const float*, float*, const Tile&);
template <int MR> TileFunction tile_of(int64_t nv) {
  constexpr TileFunction functions[] = {multiply_tile<MR, 1>, multiply_tile<MR, 2>, multiply_tile<MR, 3>,
                                        multiply_tile<MR, 4>};
  return functions[nv - 1];
}
TileFunction tile_function(int64_t mr, int64_t nv) {
  switch (mr) {
    case 1: return tile_of<1>(nv);
    case 2: return tile_of<2>(nv);
    case 4: return tile_of<4>(nv);
    case 6: return tile_of<6>(nv);
    case 8: return tile_of<8>(nv);
    default: return tile_of<12>(nv);
  }
}

struct Gemm {
  int64_t m, n, k;
  std::vector<float> a, b, c, packed;

  void run(const Config& config) {
    const int64_t mr = number(config, "mr"), nv = number(config, "nv"), nr = nv * kLanes;
    const int64_t mb = number(config, "mb"), nb = number(config, "nb"), kb = number(config, "kb");
    const bool pack = number(config, "pack") != 0;
    const std::string& order = config.at("order");
    const TileFunction multiply = tile_function(mr, nv);
    std::memset(c.data(), 0, c.size() * sizeof(float));
    std::array<int64_t, 3> limit{}, block{}, at{};  // of the loops, outermost first
    std::array<int, 3> place{};                     // of m, n and k among them
    for (int i = 0; i < 3; ++i) {
      const char axis = order[static_cast<size_t>(2 * i)];
      const int which = axis == 'm' ? 0 : axis == 'n' ? 1 : 2;
      place[static_cast<size_t>(which)] = i;
      limit[static_cast<size_t>(i)] = which == 0 ? m : which == 1 ? n : k;
      block[static_cast<size_t>(i)] = which == 0 ? mb : which == 1 ? nb : kb;
    }
    int64_t packed_n = -1, packed_k = -1;
    for (at[0] = 0; at[0] < limit[0]; at[0] += block[0])
      for (at[1] = 0; at[1] < limit[1]; at[1] += block[1])
        for (at[2] = 0; at[2] < limit[2]; at[2] += block[2]) {
          const int64_t m0 = at[static_cast<size_t>(place[0])], n0 = at[static_cast<size_t>(place[1])],
                        k0 = at[static_cast<size_t>(place[2])];
          if (pack && (packed_n != n0 || packed_k != k0)) {
            for (int64_t j = 0; j < nb; j += nr)
              for (int64_t p = 0; p < kb; ++p)
                std::memcpy(packed.data() + j * kb + p * nr, b.data() + (k0 + p) * n + n0 + j,
                            static_cast<size_t>(nr) * sizeof(float));
            packed_n = n0;
            packed_k = k0;
          }
          for (int64_t j = 0; j < nb; j += nr)
            for (int64_t i = 0; i < mb; i += mr) {
              const float* right = pack ? packed.data() + j * kb : b.data() + k0 * n + n0 + j;
              multiply(a.data() + (m0 + i) * k + k0, right, c.data() + (m0 + i) * n + n0 + j,
                       {kb, k, pack ? nr : n, n});
            }
        }
  }
};

Problem make_problem(const std::string& name, int64_t m, int64_t n, int64_t k) {
  auto gemm = std::make_shared<Gemm>(
      Gemm{m, n, k, random_floats(static_cast<size_t>(m * k), 1), random_floats(static_cast<size_t>(k * n), 2),
           std::vector<float>(static_cast<size_t>(m * n)), std::vector<float>(static_cast<size_t>(k * n))});
  Space space;
  const Param mr = space.ordinal("mr", {1, 2, 4, 6, 8, 12}), nv = space.ordinal("nv", {1, 2, 3, 4});
  const Param mb = space.ordinal("mb", {24, 48, 96, 192}), nb = space.ordinal("nb", {96, 192, 384});
  const Param kb = space.ordinal("kb", {64, 128, 384});
  space.permutation("order", {"m", "n", "k"});
  const Param pack = space.boolean("pack");
  space.require(mr * nv >= 8 && mr * nv <= 32, "enough sums to hide latency, few enough to stay in registers");
  space.require(mb % mr == 0 && nb % (nv * kLanes) == 0, "tiles fill blocks");
  space.require(m % mb == 0 && n % nb == 0 && k % kb == 0, "blocks fill the matrix");
  space.require(mb * kb <= 384 * 128 && (pack == 1 || kb * nb <= 384 * 192), "blocks stay in the L2 cache");
  space.set_default(
      {{"mr", "4"}, {"nv", "2"}, {"mb", "48"}, {"nb", "96"}, {"kb", "64"}, {"order", "m-n-k"}, {"pack", "0"}});
  space.build();
  return {name, fmt::format("fp32 matrix product {}x{}x{}, one thread", m, n, k), std::move(space),
          [gemm](const Config& config) { gemm->run(config); }, [gemm]() -> std::vector<float>& { return gemm->c; }};
}

}  // namespace

std::vector<Problem> gemm_problems() {
  return {make_problem("gemm_384x384x384", 384, 384, 384), make_problem("gemm_96x384x768", 96, 384, 768),
          make_problem("gemm_768x96x128", 768, 96, 128)};
}

}  // namespace attune::bench
