// What building a space costs: points, milliseconds and memory. Each space is built in a process of its own, so that
// the peak is its own: bench_space tiles | dense | product
#include "base/error.h"
#include "space/space.h"

#include <sys/resource.h>

#include <chrono>

namespace attune {
namespace {

std::vector<int64_t> count_up(int64_t last) {
  std::vector<int64_t> values;
  for (int64_t i = 1; i <= last; ++i) values.push_back(i);
  return values;
}

/// The choices of a blocked matrix product: tiles that divide blocks that divide the matrix and fit the caches.
Space make_tiles() {
  Space space;
  const int64_t m = 1920, n = 1920, k = 1920;
  const Param bm = space.ordinal("bm", count_up(480)), bn = space.ordinal("bn", count_up(480)),
              bk = space.ordinal("bk", count_up(480));
  const Param tm = space.ordinal("tm", count_up(24)), tn = space.ordinal("tn", count_up(8)),
              unroll = space.ordinal("unroll", count_up(8));
  const Param pack = space.boolean("pack");
  space.permutation("order", {"m", "n", "k"});
  space.require(m % bm == 0 && n % bn == 0 && k % bk == 0, "blocks divide the matrix");
  space.require(bm % tm == 0 && bn % tn == 0 && bk % unroll == 0, "tiles divide blocks");
  space.require(tm * tn <= 28, "sums stay in registers");
  space.require((bm * bk + bk * bn + bm * bn) * 4 <= 2 << 20, "blocks stay in the L2 cache");
  space.require(pack == 1 || bk * bn <= 65536, "what is not packed stays in the TLB");
  space.set_default({{"bm", "60"},
                     {"bn", "64"},
                     {"bk", "64"},
                     {"tm", "6"},
                     {"tn", "4"},
                     {"unroll", "4"},
                     {"pack", "1"},
                     {"order", "m-n-k"}});
  return space;
}

/// No structure at all: whether a point is valid depends on all parameters together, so nothing can be shared.
Space make_dense() {
  Space space;
  std::vector<Param> parameters;
  Config config;
  for (int i = 0; i < 7; ++i) {
    parameters.push_back(space.ordinal(fmt::format("p{}", i), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
    config[fmt::format("p{}", i)] = "0";
  }
  space.require(
      parameters,
      [](std::span<const int64_t> values) {
        uint64_t mixed = 0;
        for (const int64_t value : values) mixed = (mixed ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15u;
        return mixed == 0 || (mixed >> 40) % 100 < 52;
      },
      "no structure");
  space.set_default(config);
  return space;
}

/// 10^12 combinations, few of which are valid.
Space make_product() {
  Space space;
  Expr product = 1;
  Config config;
  for (int i = 0; i < 12; ++i) {
    product = product * space.ordinal(fmt::format("p{}", i), count_up(10));
    config[fmt::format("p{}", i)] = "1";
  }
  config["p0"] = "10";
  space.require(product == 10);
  space.set_default(config);
  return space;
}

int run(const std::string& name) {
  Space space = name == "tiles" ? make_tiles() : name == "dense" ? make_dense() : make_product();
  const auto start = std::chrono::steady_clock::now();
  space.build();
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("{}: {} of {:.3g} combinations valid, built in {:.0f} ms, {:.1f} MB kept, {:.0f} MB peak of the process\n",
             name, space.size(), space.raw_size(), taken.count(), static_cast<double>(space.bytes()) / 1e6,
             static_cast<double>(usage.ru_maxrss) / 1e3);
  return 0;
}

}  // namespace
}  // namespace attune

int main(int count, char** arguments) {
  const std::string name = count == 2 ? arguments[1] : "";
  if (name != "tiles" && name != "dense" && name != "product") {
    fmt::print("usage: bench_space tiles | dense | product\n");
    return 2;
  }
  return attune::run(name);
}
