// LRN: normalisation over neighbouring channels.
#include "base/parallel.h"
#include "ops/dispatch.h"
#include "ops/families.h"
#include "ops/wide_tensor.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

struct LrnAttributes {
  double alpha, beta, bias;
  int64_t size;
};

LrnAttributes read_attributes(const OpContext& context) {
  const LrnAttributes attributes{.alpha = static_cast<double>(context.attr_float("alpha", 1e-4f)),
                                 .beta = static_cast<double>(context.attr_float("beta", 0.75f)),
                                 .bias = static_cast<double>(context.attr_float("bias", 1.0f)),
                                 .size = context.attr_int("size")};
  if (attributes.size < 1) context.fail("attribute 'size' is {}, expected at least 1", attributes.size);
  return attributes;
}

void infer_lrn(InferContext& context) {
  read_attributes(context);
  if (context.shape(0) && context.shape(0)->size() < 2)
    context.fail("input has rank {}, expected (N, C, spatial…)", context.shape(0)->size());
  context.copy_type(0, 0);
}

template <class T>
void normalize(const LrnAttributes& attributes, int64_t batch, int64_t channels, int64_t inner, const T* src, T* dst) {
  const int64_t before = std::min((attributes.size - 1) / 2, channels);
  const int64_t after = std::min(attributes.size - 1 - (attributes.size - 1) / 2, channels);
  const double factor = attributes.alpha / static_cast<double>(attributes.size);
  parallel_for(batch * channels, std::max<int64_t>(1, (1 << 11) / inner), [&](int64_t begin, int64_t end) {
    std::vector<double> sums(static_cast<size_t>(inner));
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t c = plane % channels;
      const T* image = src + (plane - c) * inner;
      std::fill(sums.begin(), sums.end(), 0.0);
      for (int64_t other = std::max<int64_t>(0, c - before); other <= std::min(channels - 1, c + after); ++other)
        for (int64_t i = 0; i < inner; ++i) {
          const auto value = static_cast<double>(image[other * inner + i]);
          sums[static_cast<size_t>(i)] += value * value;
        }
      for (int64_t i = 0; i < inner; ++i)
        dst[plane * inner + i] =
            static_cast<T>(static_cast<double>(src[plane * inner + i]) /
                           std::pow(attributes.bias + factor * sums[static_cast<size_t>(i)], attributes.beta));
    }
  });
}

void run_lrn(KernelContext& context) {
  Tensor& output = context.output(0);
  if (output.count() == 0) return;
  const Tensor src = widened(context.input(0));
  Tensor dst = wide_output(output);
  const LrnAttributes attributes = read_attributes(context);
  dispatch<TypeList<float, double>>(dst.dtype(), context, [&]<class T>() {
    normalize<T>(attributes, src.dim(0), src.dim(1), src.count() / (src.dim(0) * src.dim(1)), src.data<T>(),
                 dst.mutable_data<T>());
  });
  narrow(dst, output);
}

double lrn_flops(const CostContext& context) {
  return context.output_elements(0) * (2.0 * static_cast<double>(context.attr_int("size", 1)) + 4.0);
}

const OpDef kOps[] = {
    {.domain = "",
     .name = "LRN",
     .since = 1,
     .inputs = {1, 1},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_speed,
     .infer = infer_lrn,
     .kernel = run_lrn,
     .flops = lrn_flops},
};

}  // namespace

std::span<const OpDef> lrn_ops() { return kOps; }

}  // namespace attune
