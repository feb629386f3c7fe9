#include "providers/provider_case.h"

#include "kernel/reorder.h"
#include "ops/convert.h"
#include "ops/run_node.h"
#include "providers/providers.h"
#include "providers/reference/layout_copy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace attune::testing {
namespace {

constexpr int64_t kGuardBytes = 256;
constexpr int kPoison = 0xFB;  // NaN-like in every float type

double read(const Tensor& tensor, int64_t i) { return element_as_double(tensor, i); }

Tensor random_tensor(const TensorSpec& spec, std::mt19937& random) {
  Tensor tensor = Tensor::allocate(spec.dtype, spec.dims);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int64_t i = 0; i < tensor.count(); ++i) {
    if (spec.dtype == DType::bf16)
      tensor.mutable_data<BFloat16>()[i] = BFloat16(uniform(random));
    else
      tensor.mutable_data<float>()[i] = uniform(random);
  }
  return tensor;
}

/// Storage of an operand in its own layout, with a guard zone behind it.
struct Buffer {
  TensorSpec spec;
  Tensor storage;
  int64_t bytes = 0;

  explicit Buffer(const TensorSpec& of) : spec(of), bytes(storage_bytes(of).value()) {
    storage = Tensor::allocate(DType::u8, {bytes + kGuardBytes});
    poison();
  }
  std::byte* data() { return storage.mutable_bytes(); }
  void poison() { std::memset(data(), kPoison, static_cast<size_t>(bytes + kGuardBytes)); }
  void fill(const Tensor& plain) {
    TensorSpec from = spec;
    from.layout = Layout::plain;
    copy_layout(from, plain.bytes(), spec, data());
  }
  Tensor plain() {
    TensorSpec to = spec;
    to.layout = Layout::plain;
    Tensor result = Tensor::allocate(spec.dtype, spec.dims);
    copy_layout(spec, data(), to, result.mutable_bytes());
    return result;
  }
  bool guard_is_whole() {
    for (int64_t i = 0; i < kGuardBytes; ++i)
      if (data()[bytes + i] != std::byte{kPoison}) return false;
    return true;
  }
  /// The padding channels of a blocked layout are zero: copying out and in again gives the same bytes.
  bool padding_is_zero() {
    Buffer again(spec);
    again.fill(plain());
    return std::memcmp(again.data(), data(), static_cast<size_t>(bytes)) == 0;
  }
};

void compare(const Tensor& actual, const Tensor& expected, double tolerance) {
  ASSERT_EQ(actual.dims(), expected.dims());
  double largest = 0, worst = 0;
  int64_t worst_at = 0;
  for (int64_t i = 0; i < expected.count(); ++i) {
    const double want = read(expected, i), have = read(actual, i);
    largest = std::max(largest, std::abs(want));
    double difference = std::abs(want - have);
    if (want == have) difference = 0;  // infinities
    if (!(difference <= worst)) {
      worst = difference;
      worst_at = i;
      if (std::isnan(difference)) break;
    }
  }
  EXPECT_LE(worst, tolerance * largest) << "at element " << worst_at << ": " << read(actual, worst_at) << " instead of "
                                        << read(expected, worst_at) << ", largest " << largest;
}

Tensor run_reference(const Workload& workload, std::span<const Tensor> inputs) {
  if (is_reorder(workload)) return convert(inputs[0], workload.output(0).dtype);
  std::vector<const Tensor*> pointers;
  for (size_t i = 0; i < inputs.size(); ++i) pointers.push_back(workload.inputs[i] ? &inputs[i] : nullptr);
  return run_node(workload.node(), pointers)[0];
}

void check_config(const Provider& provider, const Workload& workload, const Config& config, const Example& example,
                  double tolerance) {
  const std::vector<Tensor>& inputs = example.inputs;
  const auto kernel = provider.build(workload, config);
  std::vector<const Tensor*> constants(inputs.size(), nullptr);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (workload.inputs[i] && workload.input(i).constant) constants[i] = &inputs[i];
  const std::vector<Tensor> prepared = kernel->prepare(constants);
  std::vector<Buffer> buffers;
  std::vector<const std::byte*> input_pointers;
  buffers.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    input_pointers.push_back(nullptr);
    if (!workload.inputs[i] || kernel->takes_over(static_cast<int>(i))) continue;
    buffers.emplace_back(workload.input(i)).fill(inputs[i]);
    input_pointers.back() = buffers.back().data();
  }
  std::vector<Buffer> outputs;
  std::vector<std::byte*> output_pointers;
  outputs.reserve(workload.outputs.size());
  for (size_t i = 0; i < workload.outputs.size(); ++i)
    output_pointers.push_back(outputs.emplace_back(workload.output(i)).data());
  Tensor workspace = Tensor::allocate(DType::u8, {kernel->workspace_bytes() + kGuardBytes});
  const auto state = kernel->make_state();
  const KernelArguments arguments{input_pointers, output_pointers, prepared, workspace.mutable_bytes(), state.get()};
  for (int time = 0; time < 2; ++time) {  // the second run meets handles that are bound already
    for (Buffer& output : outputs) output.poison();
    std::memset(workspace.mutable_bytes(), kPoison, static_cast<size_t>(workspace.count()));
    kernel->run(arguments, 0, 1);
    for (size_t i = 0; i < outputs.size(); ++i) {
      compare(outputs[i].plain(), example.outputs[i], tolerance);
      EXPECT_TRUE(outputs[i].guard_is_whole()) << "writes beyond its output";
      EXPECT_TRUE(outputs[i].padding_is_zero()) << "leaves something in the padding channels";
    }
    for (int64_t i = 0; i < kGuardBytes; ++i)
      ASSERT_EQ(workspace.bytes()[kernel->workspace_bytes() + i], std::byte{kPoison}) << "writes beyond its workspace";
  }
  if (const int input = kernel->in_place_input(); input >= 0) {
    const auto in_place = static_cast<size_t>(input);
    outputs[0].fill(inputs[in_place]);
    input_pointers[in_place] = outputs[0].data();
    kernel->run(arguments, 0, 1);
    compare(outputs[0].plain(), example.outputs[0], tolerance);
  }
}

}  // namespace

bool has_provider(std::string_view name) {
  for (const Provider* provider : providers())
    if (provider->name() == name) return true;
  return false;
}

Workload make_case(std::string_view domain, std::string_view op, int version,
                   std::vector<std::optional<TensorSpec>> inputs, Attributes attributes, Layout output_layout) {
  Workload workload;
  workload.domain = domain;
  workload.op = op;
  workload.version = version;
  workload.attributes = std::move(attributes);
  workload.inputs = std::move(inputs);
  workload.outputs = {TensorSpec{}};
  std::vector<Tensor> tensors;
  std::vector<const Tensor*> pointers;
  for (const auto& spec : workload.inputs) tensors.push_back(spec ? Tensor::zeros(spec->dtype, spec->dims) : Tensor());
  for (size_t i = 0; i < tensors.size(); ++i) pointers.push_back(workload.inputs[i] ? &tensors[i] : nullptr);
  const ValueType type = infer_node(workload.node(), pointers)[0];
  workload.outputs = {TensorSpec{type.dtype, concrete(type.shape).value(), output_layout, false}};
  return workload;
}

std::string refusal(std::string_view provider, const Workload& workload) {
  const auto answer = require_provider(provider).offer(workload);
  const auto* refused = std::get_if<Refusal>(&answer);
  return refused ? refused->reason : "";
}

int check_every_config(std::string_view provider_name, const Workload& workload, const Example& example,
                       double tolerance) {
  SCOPED_TRACE(workload.key());
  const Provider& provider = require_provider(provider_name);
  const auto answer = provider.offer(workload);
  const auto* offer = std::get_if<Offer>(&answer);
  if (offer == nullptr) return 0;
  for (const Config& config : offer->configs) {
    SCOPED_TRACE(to_text(config));
    check_config(provider, workload, config, example, tolerance);
  }
  return static_cast<int>(offer->configs.size());
}

int check_every_config(std::string_view provider, const Workload& workload, double tolerance) {
  if (!refusal(provider, workload).empty()) return 0;
  std::mt19937 random(7);
  Example example;
  for (const auto& spec : workload.inputs) example.inputs.push_back(spec ? random_tensor(*spec, random) : Tensor());
  example.outputs = {run_reference(workload, example.inputs)};
  return check_every_config(provider, workload, example, tolerance);
}

}  // namespace attune::testing
