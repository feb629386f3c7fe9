// Families around matrix products and along axes: MatMul, Gemm, attention, reductions, softmax, layer normalisation.
#include "rewrite/random_graph/graph_sampler.h"

#include "ops/convert.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace attune::test {
namespace {

ValueId activation(GraphSampler& g, ValueId x) {
  switch (g.below(4)) {
    case 0: return g.apply("Relu", {x});
    case 1: return g.apply("Tanh", {x});
    case 2: return g.apply("Mul", {x, g.apply("Sigmoid", {x})});
    default: return x;
  }
}

void sample_matmul(GraphSampler& g) {
  const ValueId x = g.pick_float(1, 4);
  const int64_t k = g.dims(x).back(), n = g.one_of<int64_t>({1, 2, 3, 8, 16, 17});
  Dims weights{k, n};
  if (g.rank(x) > 2 && g.chance(0.2))
    weights.insert(weights.begin(), g.chance(0.5) ? 1 : g.dims(x)[g.dims(x).size() - 3]);
  ValueId y = g.apply("MatMul", {x, g.normal(weights, 1 / std::sqrt(static_cast<double>(k)))});
  if (g.chance(0.6)) {
    const ValueId bias = g.normal({n}, 0.5);
    y = g.chance(0.5) ? g.apply("Add", {y, bias}) : g.apply("Add", {bias, y});
  }
  if (g.chance(0.3)) y = g.apply("Div", {y, g.number(2.5, g.scalar_dims(y))});
  y = activation(g, y);
  if (g.dims(y) == g.dims(x) && g.chance(0.5)) g.apply("Add", {x, y});
}

void sample_gemm(GraphSampler& g) {
  ValueId x = g.pick_float(2, 4);
  if (g.rank(x) != 2) x = g.apply("Flatten", {x}, {{"axis", int64_t{1}}});
  const int64_t trans_a = g.chance(0.2) ? 1 : 0, trans_b = g.below(2);
  const int64_t k = g.dims(x)[trans_a == 1 ? 0 : 1], m = g.dims(x)[trans_a == 1 ? 1 : 0];
  const int64_t n = g.one_of<int64_t>({1, 3, 8, 10});
  std::vector<ValueId> inputs{x,
                              g.normal(trans_b == 1 ? Dims{n, k} : Dims{k, n}, 1 / std::sqrt(static_cast<double>(k)))};
  if (g.chance(0.7)) inputs.push_back(g.normal(g.one_of<Dims>({{n}, {1, n}, {m, 1}, {m, n}, {}, {1}}), 0.5));
  Attributes attributes{{"transA", trans_a}, {"transB", trans_b}};
  if (g.chance(0.3)) attributes["alpha"] = 0.5f;
  if (g.chance(0.3)) attributes["beta"] = 1.5f;
  activation(g, g.apply("Gemm", inputs, attributes));
}

std::string in_random_order(GraphSampler& g, std::string letters) {
  for (size_t i = letters.size(); i > 1; --i)
    std::swap(letters[i - 1], letters[static_cast<size_t>(g.below(static_cast<int64_t>(i)))]);
  return letters;
}

/// Letters of x that the other operand shares are kept or summed over; it has up to two of its own.
void sample_einsum(GraphSampler& g) {
  g.need_opset(12);
  const ValueId x = g.pick_float(1, 4);
  std::string left, right, result;
  double terms = 1;
  std::map<char, int64_t> sizes;
  for (const int64_t size : g.dims(x)) {
    const char letter = static_cast<char>('a' + std::ssize(left));
    left += letter;
    sizes[letter] = size;
    const bool is_shared = g.chance(0.6), is_kept = !is_shared ? g.chance(0.9) : g.chance(0.5);
    if (is_shared) right += letter;
    if (is_kept) result += letter;
    if (!is_kept) terms *= static_cast<double>(size);
  }
  for (int64_t i = g.below(3); i > 0; --i) {
    const char letter = static_cast<char>('p' + i);
    right += letter;
    result += letter;
    sizes[letter] = g.one_of<int64_t>({1, 2, 5});
  }
  g.need(!right.empty());
  right = in_random_order(g, right);
  if (g.chance(0.5)) result = in_random_order(g, result);
  Dims dims;
  for (const char letter : right) dims.push_back(sizes.at(letter));
  const ValueId other = g.normal(dims, 1 / std::sqrt(terms));
  const bool is_first = g.chance(0.7);
  g.apply("Einsum", is_first ? std::vector{x, other} : std::vector{other, x},
          {{"equation", (is_first ? left + "," + right : right + "," + left) + "->" + result}});
}

void sample_attention(GraphSampler& g) {
  const ValueId x = g.pick_float(3, 3);
  const int64_t n = g.dims(x)[0], tokens = g.dims(x)[1], width = g.dims(x)[2];
  const int64_t heads = g.one_of<int64_t>({1, 2}), size = g.one_of<int64_t>({2, 4});
  const double deviation = 1 / std::sqrt(static_cast<double>(width));
  const auto project = [&](std::vector<int64_t> order) {
    const ValueId y = g.apply("MatMul", {x, g.normal({width, heads * size}, deviation)});
    return g.apply("Transpose", {g.reshape(y, {n, tokens, heads, size})}, {{"perm", std::move(order)}});
  };
  const ValueId q = project({0, 2, 1, 3}), k = project({0, 2, 3, 1}), v = project({0, 2, 1, 3});
  ValueId scores = g.apply("MatMul", {q, k});
  scores = g.chance(0.5) ? g.apply("Div", {scores, g.number(std::sqrt(static_cast<double>(size)))})
                         : g.apply("Mul", {scores, g.number(1 / std::sqrt(static_cast<double>(size)))});
  if (g.chance(0.4)) scores = g.apply("Add", {scores, g.normal({1, 1, tokens, tokens}, 1)});
  const ValueId weights = g.apply("Softmax", {scores}, {{"axis", int64_t{3}}});
  const ValueId mixed =
      g.apply("Transpose", {g.apply("MatMul", {weights, v})}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  g.reshape(mixed, {0, 0, heads * size});
}

std::vector<int64_t> some_axes(GraphSampler& g, int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (g.chance(0.5)) axes.push_back(g.chance(0.3) ? axis - rank : axis);
  if (axes.empty()) axes.push_back(rank - 1);
  return axes;
}

void sample_reduce(GraphSampler& g) {
  const ValueId x = g.pick_float(1);
  const auto* op = g.one_of({"ReduceMean", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1"});
  const bool maps = g.rank(x) == 4 && g.chance(0.5);
  g.reduce(op, x, maps ? std::vector<int64_t>{2, 3} : some_axes(g, g.rank(x)), g.below(2));
}

/// The place of the largest element, where none comes close to it.
void sample_arg_max(GraphSampler& g) {
  const ValueId x = g.pick_float(1);
  const int64_t axis = g.pick_axis(x);
  const ValueId largest = g.reduce("ReduceMax", x, {axis}, 1);
  const ValueId others = g.apply("Sub", {largest, x});
  int64_t close = 0;
  for (int64_t i = 0; i < g.tensor(others).count(); ++i) close += element_as_double(g.tensor(others), i) < 1e-2 ? 1 : 0;
  g.need(close == g.tensor(largest).count());
  const ValueId at = g.apply("ArgMax", {x}, {{"axis", axis}, {"keepdims", g.below(2)}});
  if (g.chance(0.5)) g.apply("Cast", {at}, {{"to", int64_t{1}}});
}

void sample_softmax(GraphSampler& g) {
  const ValueId x = g.pick_float(1);
  g.apply(g.one_of({"Softmax", "Softmax", "LogSoftmax"}), {x}, {{"axis", g.pick_axis(x)}});
}

/// Rows whose deviation is well above the epsilon: normalising others multiplies rounding.
bool has_wide_rows(const Tensor& tensor, int64_t length) {
  for (int64_t row = 0; row < tensor.count() / length; ++row) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < length; ++i) {
      const double value = element_as_double(tensor, row * length + i);
      sum += value;
      squares += value * value;
    }
    const double mean = sum / static_cast<double>(length);
    if (squares / static_cast<double>(length) - mean * mean < 1e-2 * (1 + mean * mean)) return false;
  }
  return true;
}

void sample_layer_norm(GraphSampler& g) {
  const ValueId x = g.pick_float(2, 4);
  const int64_t length = g.dims(x).back(), last = g.chance(0.7) ? -1 : g.rank(x) - 1;
  g.need(length > 1 && has_wide_rows(g.tensor(x), length));
  const ValueId scale = g.uniform({length}, 0.5, 1.5), bias = g.normal({length}, 0.5);
  if (g.opset() >= 17 && g.chance(0.3)) {
    g.apply("LayerNormalization", {x, scale, bias}, {{"axis", last}});
    return;
  }
  const ValueId centred = g.apply("Sub", {x, g.reduce("ReduceMean", x, {last}, 1)});
  const ValueId again = g.chance(0.2) ? g.apply("Sub", {x, g.reduce("ReduceMean", x, {last}, 1)}) : centred;
  const ValueId square =
      g.chance(0.5) ? g.apply("Pow", {again, g.number(2, g.scalar_dims(x))}) : g.apply("Mul", {again, again});
  const ValueId variance = g.reduce("ReduceMean", square, {last}, 1);
  const ValueId deviation = g.apply("Sqrt", {g.apply("Add", {variance, g.number(1e-5, g.scalar_dims(x))})});
  ValueId y = g.chance(0.7) ? g.apply("Div", {centred, deviation})
                            : g.apply("Mul", {centred, g.apply("Reciprocal", {deviation})});
  if (g.chance(0.8)) y = g.apply("Mul", g.chance(0.5) ? std::vector{y, scale} : std::vector{scale, y});
  if (g.chance(0.8)) g.apply("Add", g.chance(0.5) ? std::vector{y, bias} : std::vector{bias, y});
}

}  // namespace

std::vector<Family> product_families() {
  return {{"matmul", 7, sample_matmul},         {"gemm", 4, sample_gemm},       {"attention", 3, sample_attention},
          {"reduce", 6, sample_reduce},         {"arg_max", 2, sample_arg_max}, {"softmax", 4, sample_softmax},
          {"layer_norm", 6, sample_layer_norm}, {"einsum", 3, sample_einsum}};
}

}  // namespace attune::test
