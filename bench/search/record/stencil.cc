// Five-point stencil, applied twice: blocks, rows at once, order of the blocks, prefetch, the two sweeps block by
// block.
#include "family.h"

#include <algorithm>

namespace attune::bench {
namespace {

using Vec = float __attribute__((vector_size(64), aligned(4), may_alias));
constexpr int64_t kLanes = 16, kBorder = 16;

struct Block {
  int64_t y0, y1, x0, x1;
};

struct Stencil {
  int64_t height, width, stride;
  std::vector<float> in, middle, out;

  Stencil(int64_t rows, int64_t columns)
      : height(rows),
        width(columns),
        stride(columns + 2 * kBorder),
        in(random_floats(static_cast<size_t>((rows + 4) * stride), 3)),
        middle(in.size()),
        out(in.size()) {}

  template <int Rows, int Unroll> void sweep(const float* from, float* to, const Block& block, int64_t prefetch) const {
    for (int64_t y = block.y0; y < block.y1; y += Rows)
      for (int64_t x = block.x0; x < block.x1; x += kLanes * Unroll) {
        if (prefetch > 0) __builtin_prefetch(from + (y + Rows + prefetch) * stride + x);
        for (int r = 0; r < Rows; ++r)
          for (int u = 0; u < Unroll; ++u) {
            const int64_t at = (y + r + 2) * stride + kBorder + x + u * kLanes;
            const auto load = [&](int64_t offset) { return *reinterpret_cast<const Vec*>(from + at + offset); };
            *reinterpret_cast<Vec*>(to + at) =
                0.5f * load(0) + 0.125f * (load(-1) + load(1) + load(-stride) + load(stride));
          }
      }
  }

  void sweep(const float* from, float* to, const Block& block, const Config& config) const {
    const int64_t rows = number(config, "rows"), unroll = number(config, "unroll"), ahead = number(config, "prefetch");
    const auto call = [&]<int Rows>() {
      if (unroll == 1) return sweep<Rows, 1>(from, to, block, ahead);
      if (unroll == 2) return sweep<Rows, 2>(from, to, block, ahead);
      sweep<Rows, 4>(from, to, block, ahead);
    };
    if (rows == 1) return call.operator()<1>();
    if (rows == 2) return call.operator()<2>();
    call.operator()<4>();
  }

  void run(const Config& config) {
    const int64_t by = number(config, "by"), bx = number(config, "bx");
    const bool rows_first = !config.contains("order") || config.at("order") == "y-x";
    const bool is_fused = config.at("sweeps") == "by_rows";
    const auto visit = [&](const auto& body) {
      const int64_t outer = rows_first ? height : width, inner = rows_first ? width : height;
      const int64_t outer_step = rows_first ? by : bx, inner_step = rows_first ? bx : by;
      for (int64_t i = 0; i < outer; i += outer_step)
        for (int64_t j = 0; j < inner; j += inner_step) {
          const int64_t y = rows_first ? i : j, x = rows_first ? j : i;
          body(Block{y, y + by, x, x + bx});
        }
    };
    if (!is_fused) {
      visit([&](const Block& block) { sweep(in.data(), middle.data(), block, config); });
      visit([&](const Block& block) { sweep(middle.data(), out.data(), block, config); });
      return;
    }
    // The second sweep follows one row of blocks behind the first, while that is in cache; it needs one row more.
    for (int64_t y = 0; y < height + by; y += by) {
      if (y < height)
        for (int64_t x = 0; x < width; x += bx) sweep(in.data(), middle.data(), {y, y + by, x, x + bx}, config);
      if (y > 0)
        for (int64_t x = 0; x < width; x += bx) sweep(middle.data(), out.data(), {y - by, y, x, x + bx}, config);
    }
  }
};

Problem make_problem(const std::string& name, int64_t height, int64_t width) {
  auto stencil = std::make_shared<Stencil>(height, width);
  Space space;
  const Param by = space.power_of_two("by", 1, 256), bx = space.power_of_two("bx", 16, 1024);
  const Param rows = space.ordinal("rows", {1, 2, 4}), unroll = space.ordinal("unroll", {1, 2, 4});
  const Param order = space.permutation("order", {"y", "x"});
  const Param sweeps = space.categorical("sweeps", {"whole", "by_rows"});
  space.ordinal("prefetch", {0, 4});
  space.require(by % rows == 0 && bx % (unroll * kLanes) == 0, "what is unrolled fills blocks");
  space.require(by <= height && bx <= width && by * bx >= 256, "blocks are worth their loop");
  space.only_if(order, sweeps == "whole");
  space.set_default({{"by", "16"},
                     {"bx", "64"},
                     {"rows", "1"},
                     {"unroll", "1"},
                     {"order", "y-x"},
                     {"sweeps", "whole"},
                     {"prefetch", "0"}});
  space.build();
  return {name, fmt::format("two sweeps of a five-point stencil on {}x{} floats, one thread", height, width),
          std::move(space), [stencil](const Config& config) { stencil->run(config); },
          [stencil]() -> std::vector<float>& { return stencil->out; }};
}

}  // namespace

std::vector<Problem> stencil_problems() {
  return {make_problem("stencil_512x512", 512, 512), make_problem("stencil_256x2048", 256, 2048)};
}

}  // namespace attune::bench
