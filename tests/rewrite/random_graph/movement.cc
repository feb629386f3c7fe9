// Families that move elements or give dims other names.
#include "rewrite/random_graph/graph_sampler.h"

#include <algorithm>
#include <numeric>

namespace attune::test {
namespace {

void sample_concat(GraphSampler& g) {
  const ValueId x = g.pick_float(1);
  const int64_t axis = g.pick_axis(x);
  const auto at = static_cast<size_t>(axis < 0 ? axis + g.rank(x) : axis);
  const Dims dims = g.dims(x);
  std::vector<ValueId> parts{x};
  for (int64_t more = g.between(1, 2); more > 0; --more) {
    Dims constant = dims;
    constant[at] = g.between(1, 3);
    parts.push_back(g.chance(0.1) ? g.normal(constant, 1) : g.pick([&](const Tensor& t) {
      Dims other = t.dims();
      if (t.dtype() != DType::f32 || other.size() != dims.size()) return false;
      other[at] = dims[at];
      return other == dims;
    }));
  }
  g.apply("Concat", parts, {{"axis", axis}});
}

std::vector<ValueId> split(GraphSampler& g, ValueId x, int64_t axis) {
  const auto at = static_cast<size_t>(axis < 0 ? axis + g.rank(x) : axis);
  const int64_t length = g.dims(x)[at];
  g.need(length > 1);
  const int64_t first = g.between(1, length - 1);
  if (g.opset() >= 13) return g.apply("Split", {x, g.integers({first, length - first})}, {{"axis", axis}}, {2});
  return g.apply("Split", {x}, {{"axis", axis}, {"split", std::vector<int64_t>{first, length - first}}}, {2});
}

void sample_split(GraphSampler& g) {
  const ValueId x = g.pick_float(1);
  const int64_t axis = g.pick_axis(x);
  auto parts = split(g, x, axis);
  if (g.chance(0.3)) std::reverse(parts.begin(), parts.end());
  if (g.chance(0.5)) parts[0] = g.apply("Relu", {parts[0]});
  if (g.chance(0.5)) g.apply("Concat", parts, {{"axis", axis}});
}

void sample_slice(GraphSampler& g) {
  const ValueId x = g.pick_float(1);
  const int64_t axis = g.pick_axis(x), length = g.dims(x)[static_cast<size_t>(axis < 0 ? axis + g.rank(x) : axis)];
  const int64_t begin = g.below(length), end = g.between(begin + 1, length + 1);
  if (g.chance(0.2))
    g.apply("Slice", {x, g.integers({-1}), g.integers({-length - 1}), g.integers({axis}), g.integers({-1})});
  else
    g.apply("Slice", {x, g.integers({begin}), g.integers({end}), g.integers({axis}), g.integers({g.between(1, 2)})});
}

/// Other dims of the same count: neighbours merged, one cut in two, some written as 0 or -1.
std::vector<int64_t> other_dims(GraphSampler& g, const Dims& dims) {
  std::vector<int64_t> to(dims.begin(), dims.end());
  for (int64_t change = g.between(1, 2); change > 0; --change) {
    if (to.size() > 1 && g.chance(0.5)) {
      const auto at = static_cast<size_t>(g.below(static_cast<int64_t>(to.size()) - 1));
      to[at] *= to[at + 1];
      to.erase(to.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    } else if (!to.empty() && to.size() < 5) {
      const auto at = static_cast<size_t>(g.below(static_cast<int64_t>(to.size())));
      const int64_t factor = g.one_of<int64_t>({1, 2, 3, 4});
      if (to[at] % factor != 0) continue;
      to[at] /= factor;
      to.insert(to.begin() + static_cast<std::ptrdiff_t>(at) + g.below(2), factor);
    }
  }
  if (!to.empty() && !dims.empty() && to[0] == dims[0] && g.chance(0.4)) to[0] = 0;
  if (!to.empty() && g.chance(0.4)) to[static_cast<size_t>(g.below(static_cast<int64_t>(to.size())))] = -1;
  return to;
}

ValueId rename(GraphSampler& g, ValueId x) {
  switch (g.below(5)) {
    case 0: return g.apply("Flatten", {x}, {{"axis", g.below(g.rank(x) + 1)}});
    case 1: {
      std::vector<int64_t> axes;
      for (int64_t axis = 0; axis < g.rank(x); ++axis)
        if (g.dims(x)[static_cast<size_t>(axis)] == 1 && g.chance(0.7)) axes.push_back(axis);
      g.need(!axes.empty());
      return g.squeeze(x, axes);
    }
    case 2: g.need(g.rank(x) < 5); return g.unsqueeze(x, {g.below(g.rank(x) + 1)});
    default: return g.reshape(x, other_dims(g, g.dims(x)));
  }
}

void sample_rename(GraphSampler& g) {
  ValueId x = g.pick_float();
  for (int64_t times = g.between(1, 3); times > 0; --times) x = rename(g, x);
}

/// As exporters of dynamic models write it: dims read from the tensor and joined with numbers.
void sample_computed_reshape(GraphSampler& g) {
  const ValueId x = g.pick_float(2, 4);
  const ValueId shape = g.apply("Shape", {x});
  const ValueId first = g.apply("Gather", {shape, g.integers({0})}, {{"axis", int64_t{0}}});
  const ValueId to = g.apply("Concat", {first, g.integers({-1})}, {{"axis", int64_t{0}}});
  g.apply("Reshape", {x, to});
}

std::vector<int64_t> random_order(GraphSampler& g, int64_t rank) {
  std::vector<int64_t> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<size_t>(g.below(static_cast<int64_t>(i)))]);
  return order;
}

ValueId transpose(GraphSampler& g, ValueId x) {
  if (g.chance(0.1)) return g.apply("Transpose", {x});
  if (g.rank(x) == 4 && g.chance(0.4))
    return g.apply("Transpose", {x},
                   {{"perm", g.chance(0.5) ? std::vector<int64_t>{0, 2, 3, 1} : std::vector<int64_t>{0, 3, 1, 2}}});
  return g.apply("Transpose", {x}, {{"perm", random_order(g, g.rank(x))}});
}

/// Transposes with something between them that could let them pass.
void sample_transpose(GraphSampler& g) {
  ValueId x = transpose(g, g.pick_float(1));
  if (g.chance(0.4)) return;
  switch (g.below(6)) {
    case 0: x = g.apply("Relu", {x}); break;
    case 1: x = g.apply("Add", {x, g.normal({g.dims(x).back()}, 1)}); break;
    case 2: x = g.apply("Mul", {x, g.apply("Sigmoid", {x})}); break;
    case 3: x = g.apply("Softmax", {x}, {{"axis", g.rank(x) - 1}}); break;
    case 4: x = g.reduce("ReduceMean", x, {g.below(g.rank(x))}, 1); break;
    default: break;
  }
  transpose(g, x);
}

void sample_gather(GraphSampler& g) {
  const ValueId x = g.pick_float(1);
  const int64_t axis = g.pick_axis(x), length = g.dims(x)[static_cast<size_t>(axis < 0 ? axis + g.rank(x) : axis)];
  std::vector<int64_t> indices;
  for (int64_t count = g.between(1, 3); count > 0; --count) indices.push_back(g.between(-length, length - 1));
  g.apply("Gather", {x, g.integers(indices)}, {{"axis", axis}});
}

void sample_expand(GraphSampler& g) {
  const ValueId x = g.pick_float(1, 4);
  std::vector<int64_t> to = g.dims(x);
  for (int64_t& d : to)
    if (d == 1) d = g.between(1, 3);
  if (g.chance(0.5)) {
    g.apply("Expand", {x, g.integers(to)});
    return;
  }
  std::vector<int64_t> repeats;
  for (size_t i = 0; i < to.size(); ++i) repeats.push_back(g.between(1, 2));
  g.apply("Tile", {x, g.integers(repeats)});
}

void sample_depth_and_space(GraphSampler& g) {
  const ValueId x = g.pick_float(4, 4);
  if (g.chance(0.5))
    g.apply("DepthToSpace", {x}, {{"blocksize", int64_t{2}}, {"mode", std::string(g.one_of({"DCR", "CRD"}))}});
  else
    g.apply("SpaceToDepth", {x}, {{"blocksize", int64_t{2}}});
}

}  // namespace

std::vector<Family> movement_families() {
  return {{"concat", 7, sample_concat},
          {"split", 6, sample_split},
          {"slice", 4, sample_slice},
          {"rename", 8, sample_rename},
          {"computed_reshape", 2, sample_computed_reshape},
          {"transpose", 8, sample_transpose},
          {"gather", 2, sample_gather},
          {"expand", 2, sample_expand},
          {"depth_and_space", 1, sample_depth_and_space}};
}

}  // namespace attune::test
