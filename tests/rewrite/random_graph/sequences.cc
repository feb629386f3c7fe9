// Families of what frameworks other than PyTorch export: convolutions over sequences spelled with a map of one column,
// products with one-hot vectors, look-ups in tables, slices of everything.
#include "rewrite/random_graph/graph_sampler.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace attune::test {
namespace {

/// A convolution over [n, length, c], the way TensorFlow has it.
void sample_sequence_conv(GraphSampler& g) {
  const ValueId x = g.pick_float(3, 3);
  const int64_t channels = g.dims(x)[2], out = g.one_of<int64_t>({1, 3, 8, 16, 17}), taps = g.between(1, 3);
  const int64_t axis = g.chance(0.7) ? 3 : 2;
  ValueId y = g.unsqueeze(x, {axis == 3 ? 3 : 1});
  using Ints = std::vector<int64_t>;
  y = g.apply("Transpose", {y}, {{"perm", axis == 3 ? Ints{0, 2, 1, 3} : Ints{0, 3, 1, 2}}});
  Dims weights{out, channels, 1, 1};
  weights[axis == 3 ? 2 : 3] = taps;
  Ints pads{0, 0, 0, 0};
  pads[axis == 3 ? 0 : 1] = g.below(taps);
  const double deviation = 1 / std::sqrt(static_cast<double>(channels * taps));
  y = g.apply("Conv", {y, g.normal(weights, deviation)}, {{"pads", pads}});
  if (g.chance(0.3)) {
    const ValueId all = g.integers({std::numeric_limits<int32_t>::max()}), none = g.integers({0});
    y = g.apply("Slice", {y, none, all, g.integers({g.below(4)})});
  }
  y = g.squeeze(y, {axis});
  if (g.chance(0.5)) y = g.apply("Add", {y, g.normal({1, out, 1}, 0.5)});
  if (g.chance(0.5)) g.apply("Relu", {y});
}

/// Whole numbers from -1 to one beyond the last row of a table: an input of its own, since rounding what was computed
/// would let a millionth decide over a row.
ValueId some_indices(GraphSampler& g, int64_t least, int64_t most) {
  const ValueId x = g.add_input(g.one_of<Dims>({{3}, {2, 5}, {1, 2, 4}}), DType::i64);
  const ValueId width = g.integers({most - least + 1});
  return g.apply("Add", {g.apply("Mod", {x, width}), g.integers({least})});
}

void sample_one_hot(GraphSampler& g) {
  const int64_t rows = g.one_of<int64_t>({1, 2, 3, 7}), width = g.one_of<int64_t>({1, 4, 5});
  ValueId index = some_indices(g, -1, rows);
  ValueId hot = kNoValue;
  if (g.chance(0.6)) {
    std::vector<int64_t> numbers(static_cast<size_t>(rows));
    std::iota(numbers.begin(), numbers.end(), 0);
    index = g.unsqueeze(index, {g.rank(index)});
    hot = g.apply("Cast", {g.apply("Equal", {index, g.integers(numbers)})}, {{"to", int64_t{1}}});
  } else {
    hot = g.apply("OneHot", {index, g.integers({rows}), g.numbers({0, 1})}, {{"axis", int64_t{-1}}});
  }
  ValueId y = g.apply("MatMul", {hot, g.normal({rows, width}, 1)});
  if (g.chance(0.5)) y = g.apply("Add", {y, g.normal({width}, 0.5)});
  if (g.chance(0.5)) g.apply("Tanh", {y});
}

void sample_table(GraphSampler& g) {
  const int64_t rows = g.one_of<int64_t>({2, 3, 5});
  const ValueId index = some_indices(g, 0, rows - 1);
  ValueId y = g.apply("Gather", {g.normal({rows, 4}, 1), index}, {{"axis", int64_t{0}}});
  y = g.apply("Mul", {y, g.chance(0.5) ? g.normal({4}, 1) : g.number(0.5, g.scalar_dims(y))});
  if (g.chance(0.5)) g.apply("Sigmoid", {y});
}

/// What a block adds to what it had.
void sample_excited_sum(GraphSampler& g) {
  const ValueId x = g.pick_float(4, 4);
  const ValueId gate = g.apply("Sigmoid", {g.reduce("ReduceMean", x, {2, 3}, 1)});
  const ValueId scaled = g.chance(0.5) ? g.apply("Mul", {x, gate}) : g.apply("Mul", {gate, x});
  g.chance(0.5) ? g.apply("Add", {x, scaled}) : g.apply("Add", {scaled, x});
}

/// A bias that is a node of its own, before a normalisation or not.
void sample_late_bias(GraphSampler& g) {
  const ValueId x = g.pick_float(4, 4);
  const int64_t in = g.dims(x)[1], out = g.one_of<int64_t>({1, 3, 16});
  const bool turned = g.chance(0.4);
  const ValueId weights =
      g.normal(turned ? Dims{in, out, 2, 2} : Dims{out, in, 1, 1}, 1 / std::sqrt(4.0 * static_cast<double>(in)));
  ValueId y = g.apply(turned ? "ConvTranspose" : "Conv", {x, weights});
  y = g.apply("Add", {y, g.normal(g.chance(0.5) ? Dims{1, out, 1, 1} : Dims{out, 1, 1}, 0.5)});
  if (g.chance(0.5))
    y = g.apply("BatchNormalization",
                {y, g.uniform({out}, 0.5, 1.5), g.normal({out}, 0.5), g.normal({out}, 0.5), g.uniform({out}, 0.5, 2)});
  if (g.chance(0.5)) g.apply("Relu", {y});
}

}  // namespace

std::vector<Family> sequence_families() {
  return {{"sequence_conv", 3, sample_sequence_conv},
          {"one_hot", 3, sample_one_hot},
          {"table", 2, sample_table},
          {"excited_sum", 3, sample_excited_sum},
          {"late_bias", 3, sample_late_bias}};
}

}  // namespace attune::test
