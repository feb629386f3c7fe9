#include "tune/measure/example.h"

#include "base/random.h"
#include "kernel/reorder.h"
#include "ops/convert.h"
#include "ops/run_node.h"
#include "tune/measure/conv_grad_reference.h"

#include <algorithm>
#include <cmath>

namespace attune::tune {
namespace {

Tensor make_tensor(const TensorSpec& spec, const Contents& contents, Random& random) {
  Tensor numbers = Tensor::allocate(DType::f64, spec.dims);
  auto* out = numbers.mutable_data<double>();
  if (!contents.values.empty() && static_cast<int64_t>(contents.values.size()) != numbers.count())
    throw UserError("{} numbers are given for {}", contents.values.size(), to_text(spec));
  for (int64_t i = 0; i < numbers.count(); ++i) {
    if (!contents.values.empty())
      out[i] = contents.values[static_cast<size_t>(i)];
    else if (is_float(spec.dtype))
      out[i] = contents.low + (contents.high - contents.low) * random.uniform();
    else
      out[i] = contents.low + static_cast<double>(random.below(std::llround(contents.high - contents.low) + 1));
  }
  return convert(numbers, spec.dtype);
}

std::vector<Tensor> run_reference(const WorkloadCase& what, const std::vector<Tensor>& inputs) {
  Workload workload = what.workload;
  for (const OutputCase& output : what.outputs) {
    workload.outputs.emplace_back();
    if (output.wanted) workload.outputs.back() = output.spec;
  }
  if (is_reorder(workload)) return {convert(inputs[0], workload.output(0).dtype)};
  if (is_conv_grad(workload)) return conv_grad_reference(workload, inputs);
  std::vector<const Tensor*> pointers;
  for (size_t i = 0; i < inputs.size(); ++i) pointers.push_back(workload.inputs[i] ? &inputs[i] : nullptr);
  return run_node(workload.node(), pointers);
}

bool is_quantising(const Workload& workload) {
  return workload.op.find("QLinear") != std::string::npos || workload.op.find("QuantizeLinear") != std::string::npos;
}

/// Of the gathered axis, or the shortest one, so that indices are right whichever they are of.
int64_t gathered_extent(const Workload& workload) {
  const Dims& dims = workload.input(0).dims;
  if (workload.op == "Gather") {
    const auto axis = workload.attributes.find("axis");
    const auto rank = static_cast<int64_t>(dims.size());
    int64_t at = axis == workload.attributes.end() ? 0 : std::get<int64_t>(axis->second);
    if (at < 0) at += rank;
    if (at >= 0 && at < rank) return dims[static_cast<size_t>(at)];
  }
  return dims.empty() ? 0 : *std::ranges::min_element(dims);
}

bool is_recurrent(const Workload& workload) {
  const bool named = workload.op == "LSTM" || workload.op == "GRU" || workload.op == "RNN";
  return workload.domain.empty() && named && workload.has_input(2);
}

/// Where training begins. With larger weights a layer is chaotic: kernels that round in another order differ by more
/// with every step, and nobody's result is right.
double trained_range(const Workload& workload) {
  const int64_t hidden = workload.input(2).dims.empty() ? 1 : workload.input(2).dims.back();
  return 1 / std::sqrt(static_cast<double>(std::max<int64_t>(hidden, 1)));
}

}  // namespace

Example make_example(const WorkloadCase& what, uint64_t seed) {
  Example example;
  example.seed = seed;
  Random random(seed);
  for (size_t i = 0; i < what.workload.inputs.size(); ++i) {
    const auto& spec = what.workload.inputs[i];
    example.inputs.push_back(spec ? make_tensor(*spec, what.contents[i], random) : Tensor());
  }
  example.outputs = run_reference(what, example.inputs);
  return example;
}

Example mix_examples(const WorkloadCase& what, const Example& first, const Example& second) {
  Example mixed;
  mixed.seed = second.seed;
  for (size_t i = 0; i < what.workload.inputs.size(); ++i) {
    const auto& spec = what.workload.inputs[i];
    mixed.inputs.push_back(spec && spec->constant ? first.inputs[i] : second.inputs[i]);
  }
  mixed.outputs = run_reference(what, mixed.inputs);
  return mixed;
}

void suit_contents(WorkloadCase& what) {
  const Workload& workload = what.workload;
  for (size_t i = 0; i < workload.inputs.size(); ++i) {
    if (!workload.inputs[i]) continue;
    const DType dtype = workload.input(i).dtype;
    if (what.contents[i] != Contents::usual(dtype)) continue;
    if (is_quantising(workload) && i > 0 && is_float(dtype)) what.contents[i] = {{}, 0.01, 0.1};
    if (workload.op.starts_with("Gather") && i == 1 && is_integer(dtype))
      what.contents[i] = {{}, 0, static_cast<double>(std::max<int64_t>(gathered_extent(workload), 1) - 1)};
    if (is_recurrent(workload) && (i == 1 || i == 2)) {
      const double range = trained_range(workload);
      what.contents[i] = {{}, -range, range};
    }
  }
}

Workload complete_workload(const WorkloadCase& what, const Example& example) {
  Workload workload = what.workload;
  for (size_t i = 0; i < what.outputs.size(); ++i) {
    const OutputCase& output = what.outputs[i];
    workload.outputs.emplace_back();
    if (!output.wanted) continue;
    workload.outputs.back() = output.spec;
    if (!output.written) {
      workload.outputs.back()->dtype = example.outputs.at(i).dtype();
      workload.outputs.back()->dims = example.outputs.at(i).dims();
    }
  }
  return workload;
}

}  // namespace attune::tune
