// Random operators: RandomNormal, RandomUniform and their -Like forms, Multinomial, Bernoulli. A node with a seed
// attribute draws the same numbers in every run; the others follow the seed of the run.
#include "base/random.h"

#include "ops/convert.h"
#include "ops/dispatch.h"
#include "ops/families.h"
#include "ops/infer_parts.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace attune {
namespace {

Random generator(const KernelContext& context) {
  if (!context.has_attr("seed")) return Random(context.random_seed());
  return Random(std::bit_cast<uint32_t>(context.attr_float("seed")));  // ONNX has it as a float
}

void require_float(const OpContext& context, DType dtype) {
  if (!is_float(dtype) && dtype != DType::undefined) context.fail("dtype {} is not a float", dtype_name(dtype));
}

/// RandomNormal, RandomUniform: type and shape are attributes.
void infer_from_attributes(InferContext& context) {
  const DType dtype = attr_dtype(context, "dtype", DType::f32);
  require_float(context, dtype);
  const std::vector<int64_t>& dims = context.attr_ints("shape");
  for (const int64_t dim : dims)
    if (dim < 0) context.fail("dim {} is negative", dim);
  context.set_output(0, dtype, to_shape(dims));
}

/// The -Like forms and Bernoulli: the shape of the input, its dtype unless another is asked for.
void infer_like_input(InferContext& context) {
  context.set_output(0, attr_dtype(context, "dtype", context.dtype(0)), context.shape(0));
}

void infer_float_like_input(InferContext& context) {
  require_float(context, attr_dtype(context, "dtype", context.dtype(0)));
  infer_like_input(context);
}

template <class Draw> void fill(KernelContext& context, Draw draw) {
  Random random = generator(context);
  Tensor& dst = context.output(0);
  dispatch<FloatTypes>(dst.dtype(), context, [&]<class T>() {
    T* to = dst.mutable_data<T>();
    for (int64_t i = 0; i < dst.count(); ++i) to[i] = static_cast<T>(static_cast<compute_t<T>>(draw(random)));
  });
}

void run_normal(KernelContext& context) {
  const double mean = context.attr_float("mean", 0), scale = context.attr_float("scale", 1);
  fill(context, [=](Random& random) { return mean + scale * random.normal(); });
}

void run_uniform(KernelContext& context) {
  const double low = context.attr_float("low", 0), high = context.attr_float("high", 1);
  fill(context, [=](Random& random) { return low + (high - low) * random.uniform(); });
}

// ---- Bernoulli ----

void run_bernoulli(KernelContext& context) {
  Random random = generator(context);
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  const Tensor probabilities = convert(src, DType::f64);
  const double* probability = probabilities.data<double>();
  dispatch<PlainTypes>(dst.dtype(), context, [&]<class T>() {
    T* to = dst.mutable_data<T>();
    for (int64_t i = 0; i < dst.count(); ++i)
      to[i] = static_cast<T>(static_cast<compute_t<T>>(random.uniform() < probability[i]));
  });
}

// ---- Multinomial ----

int64_t sample_size(const OpContext& context) {
  const int64_t size = context.attr_int("sample_size", 1);
  if (size < 0) context.fail("sample_size {} is negative", size);
  return size;
}

void infer_multinomial(InferContext& context) {
  const DType dtype = attr_dtype(context, "dtype", DType::i32);
  if (dtype != DType::i32 && dtype != DType::i64) context.fail("dtype {} is not i32 or i64", dtype_name(dtype));
  require_float(context, context.dtype(0));
  require_rank(context, 0, 2);
  const Dim batch = context.shape(0) ? (*context.shape(0))[0] : Dim::unknown();
  context.set_output(0, dtype, Shape{batch, Dim(sample_size(context))});
}

/// Probabilities of one row of unnormalised logarithms, summed up.
std::vector<double> cumulative_probabilities(const double* logits, int64_t classes) {
  const double largest = *std::max_element(logits, logits + classes);
  std::vector<double> sums(static_cast<size_t>(classes));
  double sum = 0;
  for (int64_t i = 0; i < classes; ++i) sums[i] = sum += std::exp(logits[i] - largest);
  return sums;
}

void run_multinomial(KernelContext& context) {
  Random random = generator(context);
  const Tensor logits = convert(context.input(0), DType::f64);
  Tensor& dst = context.output(0);
  if (dst.count() == 0) return;
  const int64_t classes = logits.dim(1), samples = dst.dim(1);
  if (classes == 0) context.fail("there are no classes to draw from");
  dispatch<TypeList<int32_t, int64_t>>(dst.dtype(), context, [&]<class T>() {
    T* to = dst.mutable_data<T>();
    for (int64_t row = 0; row < logits.dim(0); ++row) {
      const std::vector<double> sums = cumulative_probabilities(logits.data<double>() + row * classes, classes);
      for (int64_t i = 0; i < samples; ++i) {
        const auto found = std::upper_bound(sums.begin(), sums.end() - 1, random.uniform() * sums.back());
        to[row * samples + i] = static_cast<T>(found - sums.begin());
      }
    }
  });
}

OpDef random_op(std::string_view name, int since, int inputs, void (*infer)(InferContext&),
                void (*kernel)(KernelContext&)) {
  return {.domain = "",
          .name = name,
          .since = since,
          .inputs = {inputs, inputs},
          .outputs = {1, 1},
          .layout_class = LayoutClass::decides_function,  // which element gets which number
          .infer = infer,
          .kernel = kernel,
          .flops = elementwise_flops};
}

}  // namespace

std::span<const OpDef> random_ops() {
  static const OpDef ops[] = {
      random_op("RandomNormal", 1, 0, infer_from_attributes, run_normal),
      random_op("RandomNormalLike", 1, 1, infer_float_like_input, run_normal),
      random_op("RandomUniform", 1, 0, infer_from_attributes, run_uniform),
      random_op("RandomUniformLike", 1, 1, infer_float_like_input, run_uniform),
      random_op("Multinomial", 7, 1, infer_multinomial, run_multinomial),
      random_op("Bernoulli", 15, 1, infer_like_input, run_bernoulli),
  };
  return ops;
}

}  // namespace attune
