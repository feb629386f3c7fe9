#include "tune/measure/conv_grad_reference.h"

#include "ops/conv_shape.h"
#include "ops/convert.h"

namespace attune::tune {
namespace {

/// A convolution of three spatial dims; missing ones have extent 1.
struct Loops {
  Dims src, weights, dst;
  std::vector<WindowAxis> axes;
  int64_t groups = 1;

  Loops(const Workload& workload, Dims src_dims, Dims weights_dims, Dims dst_dims)
      : src(std::move(src_dims)), weights(std::move(weights_dims)), dst(std::move(dst_dims)) {
    const Node node = workload.node();
    const ConvGeometry geometry = conv_geometry(OpContext(node), src, weights);
    axes = geometry.axes;
    groups = geometry.groups;
    for (Dims* dims : {&src, &weights, &dst}) dims->resize(5, 1);
    axes.resize(3, WindowAxis{1, 1});
  }

  /// Calls visit(src, weights, dst) with the offsets of every product.
  template <class Visit> void for_each_product(Visit&& visit) const {
    const int64_t in_group = src[1] / groups, out_group = weights[0] / groups;
    const int64_t outs = dst[2] * dst[3] * dst[4], taps = weights[2] * weights[3] * weights[4];
    for (int64_t n = 0; n < src[0]; ++n)
      for (int64_t oc = 0; oc < weights[0]; ++oc)
        for (int64_t out = 0; out < outs; ++out)
          for (int64_t ic = 0; ic < in_group; ++ic)
            for (int64_t tap = 0; tap < taps; ++tap) {
              const int64_t pixel = source_pixel(out, tap);
              if (pixel < 0) continue;
              const int64_t channel = oc / out_group * in_group + ic;
              visit((n * src[1] + channel) * src[2] * src[3] * src[4] + pixel, (oc * in_group + ic) * taps + tap,
                    (n * weights[0] + oc) * outs + out);
            }
  }

 private:
  /// The pixel of the input that a tap reads for an output pixel; -1 in the padding.
  int64_t source_pixel(int64_t out, int64_t tap) const {
    const int64_t outs[] = {out / (dst[3] * dst[4]), out / dst[4] % dst[3], out % dst[4]};
    const int64_t taps[] = {tap / (weights[3] * weights[4]), tap / weights[4] % weights[3], tap % weights[4]};
    int64_t pixel = 0;
    for (size_t i = 0; i < 3; ++i) {
      const int64_t at = axes[i].start(outs[i]) + taps[i] * axes[i].dilation;
      if (at < 0 || at >= src[i + 2]) return -1;
      pixel = pixel * src[i + 2] + at;
    }
    return pixel;
  }
};

}  // namespace

bool is_conv_grad(const Workload& workload) {
  return workload.domain == "attune" && (workload.op == "ConvGradData" || workload.op == "ConvGradWeights");
}

std::vector<Tensor> conv_grad_reference(const Workload& workload, const std::vector<Tensor>& inputs) {
  const Tensor first = convert(inputs[0], DType::f64), second = convert(inputs[1], DType::f64);
  const auto *a = first.data<double>(), *b = second.data<double>();
  std::vector<Tensor> sums;
  for (const auto& spec : workload.outputs) sums.push_back(Tensor::zeros(DType::f64, spec.value().dims));
  auto* out = sums[0].mutable_data<double>();
  if (workload.op == "ConvGradData") {
    const Loops loops(workload, workload.output(0).dims, workload.input(1).dims, workload.input(0).dims);
    loops.for_each_product([&](int64_t src, int64_t weights, int64_t dst) { out[src] += a[dst] * b[weights]; });
  } else {
    const Loops loops(workload, workload.input(0).dims, workload.output(0).dims, workload.input(1).dims);
    loops.for_each_product([&](int64_t src, int64_t weights, int64_t dst) { out[weights] += a[src] * b[dst]; });
    if (sums.size() > 1) {
      const int64_t channels = loops.dst[1], pixels = loops.dst[2] * loops.dst[3] * loops.dst[4];
      for (int64_t i = 0; i < second.count(); ++i) sums[1].mutable_data<double>()[i / pixels % channels] += b[i];
    }
  }
  for (size_t i = 0; i < sums.size(); ++i) sums[i] = convert(sums[i], workload.output(i).dtype);
  return sums;
}

}  // namespace attune::tune
