#include "rewrite/random_graph/check_graph.h"

#include "base/error.h"
#include "base/random.h"
#include "graph/text.h"
#include "ops/convert.h"
#include "rewrite/forget_constants.h"
#include "rewrite/remove_dead.h"
#include "runtime/executor.h"

#include <algorithm>
#include <cmath>
#include <exception>

namespace attune::test {
namespace {

/// The inputs with every float changed by about a millionth.
std::vector<Tensor> nudged(const std::vector<Tensor>& inputs) {
  Random random(1);
  std::vector<Tensor> result;
  for (const Tensor& input : inputs) {
    result.push_back(input.clone());
    if (input.dtype() != DType::f32) continue;
    float* data = result.back().mutable_data<float>();
    for (int64_t i = 0; i < input.count(); ++i)
      data[i] *= static_cast<float>(1 + 1e-6 * (random.below(2) == 0 ? 1 : -1));
  }
  return result;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  double largest = 0;
  for (int64_t i = 0; i < a.count(); ++i)
    largest = std::max(largest, std::fabs(element_as_double(a, i) - element_as_double(b, i)));
  return largest;
}

std::string compare_within(const Tensor& actual, const Tensor& expected, double allowed) {
  if (actual.dtype() != expected.dtype())
    return fmt::format("dtype {}, expected {}", dtype_name(actual.dtype()), dtype_name(expected.dtype()));
  if (actual.dims() != expected.dims())
    return fmt::format("shape {}, expected {}", to_text(actual.dims()), to_text(expected.dims()));
  for (int64_t i = 0; i < actual.count(); ++i) {
    const double a = element_as_double(actual, i), e = element_as_double(expected, i);
    if (!(std::fabs(a - e) <= allowed))
      return fmt::format("element {} of {} is {}, expected {} within {:.1e}", i, to_text(actual.dims()), a, e, allowed);
  }
  return "";
}

std::string check_once(const Graph& graph, const std::vector<Tensor>& inputs, const Runner& runner,
                       const CheckOptions& options) {
  const ReferenceExecutor reference(graph);
  const auto expected = reference.run(inputs), moved = reference.run(nudged(inputs));
  std::vector<Tensor> actual;
  try {
    actual = runner(graph, inputs);
  } catch (const std::exception& error) {
    return error.what();
  }
  if (actual.size() != expected.size()) return fmt::format("{} outputs, expected {}", actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    double scale = 1;
    for (int64_t k = 0; k < expected[i].count(); ++k)
      scale = std::max(scale, std::fabs(element_as_double(expected[i], k)));
    const double tolerance =
        is_float(expected[i].dtype())
            ? options.relative * scale + options.sensitivity * largest_difference(expected[i], moved[i])
            : options.integers;
    if (const std::string difference = compare_within(actual[i], expected[i], tolerance); !difference.empty())
      return fmt::format("output '{}': {}", graph.value(graph.outputs[i]).name, difference);
  }
  return "";
}

/// The graph up to one value.
Graph part_up_to(const Graph& graph, ValueId id) {
  Graph part = graph;
  part.outputs = {id};
  rewrite::remove_dead(part);
  rewrite::forget_constants(part);
  return part;
}

}  // namespace

std::string check_graph(const RandomGraph& sample, const Runner& runner, const CheckOptions& options) {
  std::string failure = check_once(sample.graph, sample.inputs, runner, options);
  if (failure.empty()) return "";
  Graph smallest = sample.graph;
  for (const Node& node : sample.graph.nodes())
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      Graph part = part_up_to(sample.graph, id);
      if (part.nodes().size() >= smallest.nodes().size()) continue;
      const std::string again = check_once(part, sample.inputs, runner, options);
      if (again.empty()) continue;
      smallest = std::move(part);
      failure = again;
    }
  return failure + "\n" + to_text(smallest, {.most_elements = 8});
}

}  // namespace attune::test
