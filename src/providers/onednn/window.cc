#include "providers/onednn/window.h"

namespace attune::onednn {

WindowDims window_dims(std::span<const WindowAxis> axes) {
  WindowDims window;
  for (const WindowAxis& axis : axes) {
    window.kernel.push_back(axis.kernel);
    window.strides.push_back(axis.stride);
    window.dilates.push_back(axis.dilation - 1);
    window.pads_begin.push_back(axis.pad_begin);
    window.pads_end.push_back(axis.pad_end);
  }
  return window;
}

Dims grouped_weights(Dims dims, int64_t groups) {
  if (groups == 1) return dims;
  dims[0] /= groups;
  dims.insert(dims.begin(), groups);
  return dims;
}

void require_spatial(const TensorSpec& spec) {
  if (spec.dims.size() < 3 || spec.dims.size() > 5)
    throw UnsupportedError("oneDNN takes one to three spatial dims, got {}", to_text(spec));
}

void require_float(const Workload& workload, std::initializer_list<size_t> inputs) {
  const DType first = workload.input(*inputs.begin()).dtype;
  for (const size_t i : inputs) {
    const DType dtype = workload.input(i).dtype;
    if ((dtype != DType::f32 && dtype != DType::bf16) || dtype != first)
      throw UnsupportedError("oneDNN takes f32 or bf16 here, for all operands alike, got {}",
                             to_text(workload.inputs[i]));
  }
}

}  // namespace attune::onednn
