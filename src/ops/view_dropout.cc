#include "ops/view_dropout.h"

#include "ops/dispatch.h"

#include <cstring>
#include <random>

namespace attune {
namespace {

constexpr float kDefaultRatio = 0.5f;

/// Opset 12 made ratio and training mode inputs; before it a model can only hold the inference form.
bool is_training(const KernelContext& context) {
  if (!context.has_input(2)) return false;
  const Tensor& mode = context.input(2);
  if (mode.dtype() != DType::boolean || mode.count() != 1) context.fail("training_mode is not one bool");
  return mode.data<bool>()[0];
}

double ratio_of(const KernelContext& context) {
  if (!context.has_input(1)) return kDefaultRatio;
  const Tensor& ratio = context.input(1);
  if (ratio.count() != 1) context.fail("ratio has {} elements, expected one", ratio.count());
  double value = 0;
  dispatch<FloatTypes>(ratio.dtype(), context,
                       [&]<class T>() { value = static_cast<double>(static_cast<compute_t<T>>(ratio.data<T>()[0])); });
  if (!(value >= 0 && value < 1)) context.fail("ratio {} is not in [0, 1)", value);
  return value;
}

/// Uniform in [0, 1), drawn as numpy's RandomState does: ONNX's published cases with a seed come from it.
class NumpyUniform {
 public:
  explicit NumpyUniform(uint32_t seed) : engine_(seed) {}
  double next() {
    const uint64_t high = engine_() >> 5, low = engine_() >> 6;  // 27 and 26 bits
    return static_cast<double>(high << 26 | low) * 0x1p-53;
  }

 private:
  std::mt19937 engine_;
};

void run_training(KernelContext& context, double ratio) {
  const Tensor& src = context.input(0);
  const auto seed = context.has_attr("seed") ? static_cast<uint64_t>(context.attr_int("seed")) : context.random_seed();
  NumpyUniform random(static_cast<uint32_t>(seed));
  bool* mask = context.wants_output(1) ? context.output(1).mutable_data<bool>() : nullptr;
  const double scale = 1.0 / (1.0 - ratio);
  dispatch<FloatTypes>(src.dtype(), context, [&]<class T>() {
    const T* from = src.data<T>();
    T* to = context.output(0).mutable_data<T>();
    for (int64_t i = 0; i < src.count(); ++i) {
      const bool keep = random.next() >= ratio;
      to[i] = static_cast<T>(static_cast<compute_t<T>>(keep ? static_cast<compute_t<T>>(from[i]) * scale : 0.0));
      if (mask != nullptr) mask[i] = keep;
    }
  });
}

}  // namespace

void infer_dropout(InferContext& context) {
  context.copy_type(0, 0);
  context.set_output(1, context.version() < 10 ? context.dtype(0) : DType::boolean, context.shape(0));
}

void run_dropout(KernelContext& context) {
  if (is_training(context)) {
    if (const double ratio = ratio_of(context); ratio > 0) return run_training(context, ratio);
  }
  context.set_output(0, context.input(0));
  if (!context.wants_output(1)) return;
  Tensor& mask = context.output(1);
  dispatch<PlainTypes>(mask.dtype(), context,
                       [&]<class T>() { std::fill_n(mask.mutable_data<T>(), mask.count(), static_cast<T>(1)); });
}

}  // namespace attune
