#include "rewrite/random_graph/graph_sampler.h"

#include "base/error.h"
#include "ops/convert.h"
#include "ops/run_node.h"

#include <algorithm>
#include <cmath>

namespace attune::test {
namespace {

constexpr int64_t kMostElements = 6000;  // the reference computes everything several times
constexpr double kLargestValue = 60;     // beyond that rounding of sums hides real faults

bool is_usable(const Tensor& tensor) {
  if (tensor.count() > kMostElements || tensor.count() == 0 || tensor.rank() > 6) return false;
  if (!is_float(tensor.dtype())) return true;
  for (int64_t i = 0; i < tensor.count(); ++i)
    if (!(std::fabs(element_as_double(tensor, i)) <= kLargestValue)) return false;
  return true;
}

}  // namespace

GraphSampler::GraphSampler(uint64_t seed) : random_(seed), opset_(one_of({12, 13, 17, 18, 20, 21})) {
  graph_.name = "random";
  graph_.opsets[""] = opset_;
}

ValueId GraphSampler::pick(const std::function<bool(const Tensor&)>& fits) {
  std::vector<ValueId> fitting;
  for (const ValueId id : live_)
    if (fits(tensors_.at(id))) fitting.push_back(id);
  if (fitting.empty()) throw Rejected{};
  const auto count = static_cast<int64_t>(fitting.size());
  constexpr int64_t kLate = 3;
  const int64_t first = chance(0.65) ? std::max<int64_t>(0, count - kLate) : 0;
  return fitting[static_cast<size_t>(between(first, count - 1))];
}

ValueId GraphSampler::pick_float(int64_t least_rank, int64_t most_rank) {
  return pick([&](const Tensor& tensor) {
    return tensor.dtype() == DType::f32 && tensor.rank() >= least_rank && tensor.rank() <= most_rank;
  });
}

ValueId GraphSampler::pick_map() { return chance(0.9) ? pick_float(4, 4) : pick_float(3, 3); }

int64_t GraphSampler::pick_axis(ValueId id) {
  need(rank(id) > 0);
  const int64_t axis = below(rank(id));
  return chance(0.3) ? axis - rank(id) : axis;
}

ValueId GraphSampler::keep(Tensor tensor) {
  const ValueId id = graph_.add_constant("c" + std::to_string(tensors_.size()), tensor);
  tensors_[id] = std::move(tensor);
  spare_constants_.push_back(id);
  return id;
}

ValueId GraphSampler::normal(Dims dims, double deviation) {
  Tensor tensor = Tensor::allocate(DType::f32, std::move(dims));
  for (int64_t i = 0; i < tensor.count(); ++i)
    tensor.mutable_data<float>()[i] = static_cast<float>(random_.normal() * deviation);
  return keep(std::move(tensor));
}

ValueId GraphSampler::uniform(Dims dims, double low, double high) {
  for (const ValueId id : spare_constants_)
    if (chance(0.1) && this->dims(id) == dims && tensor(id).dtype() == DType::f32) {
      const float* data = tensor(id).data<float>();
      if (std::all_of(data, data + tensor(id).count(), [&](float v) { return v >= low && v <= high; })) return id;
    }
  Tensor tensor = Tensor::allocate(DType::f32, std::move(dims));
  for (int64_t i = 0; i < tensor.count(); ++i)
    tensor.mutable_data<float>()[i] = static_cast<float>(low + (high - low) * random_.uniform());
  return keep(std::move(tensor));
}

ValueId GraphSampler::number(double value, Dims dims) {
  Tensor tensor = Tensor::allocate(DType::f32, std::move(dims));
  for (int64_t i = 0; i < tensor.count(); ++i) tensor.mutable_data<float>()[i] = static_cast<float>(value);
  return keep(std::move(tensor));
}

ValueId GraphSampler::integers(std::vector<int64_t> values) { return keep(Tensor::vector(values)); }

ValueId GraphSampler::numbers(std::vector<float> values) {
  return keep(Tensor::from<float>({static_cast<int64_t>(values.size())}, values));
}

Dims GraphSampler::scalar_dims(ValueId beside) {
  const int64_t ones = chance(0.5) ? 0 : between(0, rank(beside) + (chance(0.2) ? 1 : 0));
  return Dims(static_cast<size_t>(ones), 1);
}

ValueId GraphSampler::add_input(Dims dims, DType dtype) {
  Tensor tensor = Tensor::allocate(DType::f32, dims);
  for (int64_t i = 0; i < tensor.count(); ++i)
    tensor.mutable_data<float>()[i] =
        dtype == DType::boolean ? static_cast<float>(below(2)) : static_cast<float>(random_.normal());
  Shape shape = to_shape(dims);
  if (!shape.empty() && chance(0.25)) shape[0] = Dim::symbol("N" + std::to_string(dims[0]));
  const ValueId id = graph_.add_input("x" + std::to_string(graph_.inputs.size()), dtype, std::move(shape));
  tensors_[id] = convert(tensor, dtype);
  live_.push_back(id);
  return id;
}

std::vector<Tensor> GraphSampler::run(const Node& node, const std::function<const Tensor*(ValueId)>& find) const {
  std::vector<const Tensor*> inputs;
  for (const ValueId id : node.inputs) inputs.push_back(id == kNoValue ? nullptr : find(id));
  RunNodeOptions options;
  options.run_subgraph = [&](const Graph& body, std::span<const Tensor>) {
    std::map<ValueId, Tensor> inner;
    for (const Capture& capture : body.captures) inner[capture.inner] = *find(capture.outer);
    const auto find_inner = [&](ValueId id) {
      const Value& value = body.value(id);
      return value.is_constant() ? &value.constant : &inner.at(id);
    };
    for (const Node& each : body.nodes()) inner[each.outputs[0]] = run(each, find_inner)[0];
    std::vector<Tensor> outputs;
    for (const ValueId id : body.outputs) outputs.push_back(*find_inner(id));
    return outputs;
  };
  return run_node(node, inputs, options);
}

ValueId GraphSampler::apply(const char* op, std::vector<ValueId> inputs, Attributes attributes) {
  return apply(op, std::move(inputs), std::move(attributes), {})[0];
}

std::vector<ValueId> GraphSampler::apply(const char* op, std::vector<ValueId> inputs, Attributes attributes,
                                         More more) {
  Node node;
  node.op = op;
  node.name = "n" + std::to_string(graph_.nodes().size()) + "_" + op;
  node.version = more.version == 0 ? opset_ : more.version;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  node.outputs.resize(more.outputs, 0);  // asked for, ids follow
  std::vector<Tensor> results;
  try {
    results = run(node, [&](ValueId id) { return &tensors_.at(id); });
  } catch (const Error&) {
    throw Rejected{};
  }
  if (!std::all_of(results.begin(), results.end(), is_usable)) throw Rejected{};
  for (size_t i = 0; i < results.size(); ++i) {
    Value value;
    value.name = "v" + std::to_string(tensors_.size());
    node.outputs[i] = graph_.add_value(std::move(value));
    tensors_[node.outputs[i]] = std::move(results[i]);
    live_.push_back(node.outputs[i]);
  }
  const std::vector<ValueId> outputs = node.outputs;
  graph_.add_node(std::move(node));
  return outputs;
}

ValueId GraphSampler::reduce(const char* op, ValueId x, std::vector<int64_t> axes, int64_t keep) {
  const bool as_input = opset_ >= 18 || (opset_ >= 13 && std::string_view(op) == "ReduceSum");
  if (as_input) return apply(op, {x, integers(std::move(axes))}, {{"keepdims", keep}});
  return apply(op, {x}, {{"axes", std::move(axes)}, {"keepdims", keep}});
}

ValueId GraphSampler::squeeze(ValueId x, std::vector<int64_t> axes) {
  if (opset_ >= 13) return apply("Squeeze", {x, integers(std::move(axes))});
  return apply("Squeeze", {x}, {{"axes", std::move(axes)}});
}

ValueId GraphSampler::unsqueeze(ValueId x, std::vector<int64_t> axes) {
  if (opset_ >= 13) return apply("Unsqueeze", {x, integers(std::move(axes))});
  return apply("Unsqueeze", {x}, {{"axes", std::move(axes)}});
}

ValueId GraphSampler::reshape(ValueId x, std::vector<int64_t> to) {
  return apply("Reshape", {x, integers(std::move(to))});
}

ValueId GraphSampler::clip(ValueId x, double low, double high) {
  if (chance(0.2))
    return apply("Clip", {x}, {{"min", static_cast<float>(low)}, {"max", static_cast<float>(high)}}, {1, 6})[0];
  return apply("Clip", {x, number(low), number(high)});
}

void GraphSampler::repeat_node() {
  need(!graph_.nodes().empty());
  const Node node = one_of(graph_.nodes());
  const auto outputs = apply(node.op.c_str(), node.inputs, node.attributes, {node.outputs.size(), node.version});
  static_cast<void>(outputs);
}

void GraphSampler::finish() {
  std::vector<int> reads(graph_.values().size(), 0);
  for (const Node& node : graph_.nodes()) {
    for (const ValueId id : node.inputs)
      if (id != kNoValue) ++reads[static_cast<size_t>(id)];
    for (const auto& [name, attribute] : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute))
        for (const Capture& capture : (*body)->captures) ++reads[static_cast<size_t>(capture.outer)];
  }
  for (const ValueId id : live_) {
    const bool is_input = graph_.value(id).producer == kNoNode;
    const double share = is_input ? 0.02 : reads[static_cast<size_t>(id)] == 0 ? 0.9 : 0.1;
    if (chance(share)) graph_.outputs.push_back(id);
  }
  if (graph_.outputs.empty()) graph_.outputs.push_back(live_.back());
}

std::vector<Tensor> GraphSampler::input_tensors() const {
  std::vector<Tensor> inputs;
  for (const ValueId id : graph_.inputs) inputs.push_back(tensor(id));
  return inputs;
}

}  // namespace attune::test
