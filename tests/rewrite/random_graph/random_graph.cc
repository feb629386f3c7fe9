#include "rewrite/random_graph/random_graph.h"

#include "rewrite/random_graph/graph_sampler.h"

namespace attune::test {
namespace {

const std::vector<Family>& families() {
  static const std::vector<Family> all = [] {
    std::vector<Family> list;
    for (const auto& part : {convolution_families(), elementwise_families(), movement_families(), product_families(),
                             sequence_families(), control_families()})
      list.insert(list.end(), part.begin(), part.end());
    return list;
  }();
  return all;
}

const Family& pick_family(GraphSampler& g) {
  int64_t total = 0;
  for (const Family& family : families()) total += family.weight;
  int64_t at = g.below(total);
  for (const Family& family : families())
    if ((at -= family.weight) < 0) return family;
  return families().back();
}

void add_inputs(GraphSampler& g) {
  const int64_t n = g.one_of<int64_t>({1, 1, 1, 2, 3});
  const auto side = [&] { return g.one_of<int64_t>({1, 2, 3, 4, 5, 7, 8, 9}); };
  const auto channels = [&] { return g.one_of<int64_t>({1, 2, 3, 4, 6, 8, 16, 17, 32}); };
  if (g.chance(0.8)) g.add_input({n, channels(), side(), side()});
  if (g.chance(0.2)) g.add_input({n, channels(), side(), side()});
  if (g.chance(0.4)) g.add_input({n, side(), channels()});
  if (g.chance(0.3) || g.graph().inputs.empty()) g.add_input({n, channels()});
}

}  // namespace

RandomGraph make_random_graph(uint64_t seed) {
  GraphSampler g(seed);
  add_inputs(g);
  int64_t left = g.between(3, 24);
  for (int64_t tries = 4 * left; left > 0 && tries > 0; --tries) {
    try {
      pick_family(g).sample(g);
      --left;
    } catch (const Rejected&) {
      continue;  // nothing here suits that family, or its result would be of no use
    }
  }
  g.finish();
  std::vector<Tensor> inputs = g.input_tensors();
  return {std::move(g.graph()), std::move(inputs)};
}

}  // namespace attune::test
