#include "runtime/accuracy_check.h"

#include "base/random.h"
#include "ops/run_node.h"
#include "providers/reference/layout_copy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attune {
namespace {

/// Plain f32 contents for input i.
Tensor random_operand(const TensorSpec& spec, size_t position, uint64_t seed) {
  Tensor tensor = Tensor::allocate(DType::f32, spec.dims);
  Random random(seed * 1000 + position);
  const int64_t fan_in =
      spec.dims.empty() ? 1 : std::max<int64_t>(1, tensor.count() / std::max<int64_t>(1, spec.dims[0]));
  const double scale = position == 1 ? std::sqrt(2.0 / static_cast<double>(fan_in)) : 1.0;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double value = random.normal() * scale;
    tensor.mutable_data<float>()[i] = static_cast<float>(position == 0 ? std::max(value, 0.0) : value);
  }
  return tensor;
}

Tensor in_layout(const Tensor& plain, const TensorSpec& target) {
  TensorSpec source = target;
  source.layout = Layout::plain;
  Tensor result = Tensor::allocate(DType::u8, {storage_bytes(target).value_or(0)});
  copy_layout(source, plain.bytes(), target, result.mutable_bytes());
  return result;
}

}  // namespace

Workload one_image(Workload workload) {
  const int64_t batch = workload.output(0).dims.empty() ? 1 : workload.output(0).dims[0];
  const auto cut = [&](std::optional<TensorSpec>& spec) {
    if (spec && !spec->constant && spec->dims.size() > 1 && spec->dims[0] == batch) spec->dims[0] = 1;
  };
  for (auto& spec : workload.inputs) cut(spec);
  for (auto& spec : workload.outputs) cut(spec);
  return workload;
}

Workload small_maps(Workload workload) {
  constexpr int64_t kSide = 16;
  const Dims whole = workload.output(0).dims;
  if (whole.size() <= 2 || workload.input(0).dims.size() != whole.size()) return workload;
  for (size_t axis = 2; axis < whole.size(); ++axis) {
    const int64_t cut = std::max<int64_t>(0, whole[axis] - kSide);
    workload.inputs[0]->dims[axis] -= cut;
    workload.outputs[0]->dims[axis] -= cut;
  }
  for (size_t i = 1; i < workload.inputs.size(); ++i)
    if (workload.inputs[i] && !workload.input(i).constant && workload.input(i).dims == whole)
      workload.inputs[i]->dims = workload.output(0).dims;
  return workload;
}

double measured_error(const Workload& workload, const Provider& provider, const Config& config, uint64_t seed) {
  std::vector<Tensor> plain(workload.inputs.size()), placed(workload.inputs.size());
  std::vector<const Tensor*> plain_pointers(workload.inputs.size(), nullptr),
      constants(workload.inputs.size(), nullptr);
  std::vector<const std::byte*> pointers(workload.inputs.size(), nullptr);
  for (size_t i = 0; i < workload.inputs.size(); ++i) {
    if (!workload.inputs[i]) continue;
    if (workload.input(i).dtype != DType::f32)
      throw InternalError("accuracy is measured on f32, got {}", dtype_name(workload.input(i).dtype));
    plain[i] = random_operand(workload.input(i), i, seed);
    plain_pointers[i] = &plain[i];
    placed[i] = in_layout(plain[i], workload.input(i));
    pointers[i] = placed[i].bytes();
    if (workload.input(i).constant) constants[i] = &plain[i];
  }
  const Tensor expected = run_node(workload.node(), plain_pointers)[0];

  const auto kernel = provider.build(workload, config);
  const TensorSpec& result_spec = workload.output(0);
  Tensor result = Tensor::allocate(DType::u8, {storage_bytes(result_spec).value_or(0)});
  std::fill_n(reinterpret_cast<float*>(result.mutable_bytes()), result.size_bytes() / 4,
              std::numeric_limits<float>::quiet_NaN());
  Tensor workspace = Tensor::allocate(DType::u8, {kernel->workspace_bytes()});
  std::byte* output = result.mutable_bytes();
  const std::vector<Tensor> prepared = kernel->prepare(constants);
  const auto state = kernel->make_state();
  kernel->run({pointers, {&output, 1}, prepared, workspace.mutable_bytes(), state.get()}, 0, kernel->task_count());

  TensorSpec plain_spec = result_spec;
  plain_spec.layout = Layout::plain;
  Tensor actual = Tensor::allocate(DType::f32, result_spec.dims);
  copy_layout(result_spec, result.bytes(), plain_spec, actual.mutable_bytes());
  double largest = 0, error = 0;
  for (int64_t i = 0; i < actual.count(); ++i) {
    const double a = actual.data<float>()[i], e = expected.data<float>()[i];
    if (!(std::fabs(a - e) < std::numeric_limits<double>::infinity())) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::fabs(e));
    error = std::max(error, std::fabs(a - e));
  }
  return largest > 0 ? error / largest : error;
}

}  // namespace attune
