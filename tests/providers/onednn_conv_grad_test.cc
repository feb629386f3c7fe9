#include "providers/provider_case.h"
#include "providers/providers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attune::testing {
namespace {

using Ints = std::vector<int64_t>;

class OnednnConvGrad : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_provider("onednn")) GTEST_SKIP() << "built without oneDNN";
  }
};

/// A convolution of images with stride and padding alike in both directions.
struct Case {
  int64_t batch, in_channels, in_size, out_channels, kernel, stride, pad, groups;

  int64_t out_size() const { return (in_size + 2 * pad - kernel) / stride + 1; }
  Dims src() const { return {batch, in_channels, in_size, in_size}; }
  Dims weights() const { return {out_channels, in_channels / groups, kernel, kernel}; }
  Dims dst() const { return {batch, out_channels, out_size(), out_size()}; }
  Attributes attributes() const {
    return {{"strides", Ints{stride, stride}}, {"pads", Ints{pad, pad, pad, pad}}, {"group", groups}};
  }
};

constexpr Case kCases[] = {{1, 16, 9, 32, 3, 1, 1, 1},  {2, 13, 7, 11, 3, 2, 1, 1}, {1, 32, 6, 16, 1, 1, 0, 1},
                           {1, 32, 8, 32, 3, 2, 1, 32}, {1, 32, 8, 64, 3, 1, 1, 2}, {1, 3, 17, 16, 5, 2, 2, 1}};

/// Calls visit(src, weights, dst) with the offsets of every product of the convolution, in plain order.
template <class Visit> void for_each_product(const Case& c, Visit&& visit) {
  const int64_t ic_group = c.in_channels / c.groups, oc_group = c.out_channels / c.groups, out = c.out_size();
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t oc = 0; oc < c.out_channels; ++oc)
      for (int64_t oh = 0; oh < out; ++oh)
        for (int64_t ow = 0; ow < out; ++ow)
          for (int64_t ic = 0; ic < ic_group; ++ic)
            for (int64_t kh = 0; kh < c.kernel; ++kh)
              for (int64_t kw = 0; kw < c.kernel; ++kw) {
                const int64_t ih = oh * c.stride - c.pad + kh, iw = ow * c.stride - c.pad + kw;
                if (ih < 0 || iw < 0 || ih >= c.in_size || iw >= c.in_size) continue;
                const int64_t channel = oc / oc_group * ic_group + ic;
                visit(((n * c.in_channels + channel) * c.in_size + ih) * c.in_size + iw,
                      ((oc * ic_group + ic) * c.kernel + kh) * c.kernel + kw,
                      ((n * c.out_channels + oc) * out + oh) * out + ow);
              }
}

Tensor numbers(const Dims& dims) {
  Tensor tensor = Tensor::allocate(DType::f32, dims);
  float* values = tensor.mutable_data<float>();
  for (int64_t i = 0; i < tensor.count(); ++i) values[i] = 0.25F + std::sin(0.7F * static_cast<float>(i));
  return tensor;
}

TEST_F(OnednnConvGrad, data_gradient_agrees_in_every_layout) {
  for (const Case& c : kCases) {
    const Tensor diff_dst = numbers(c.dst()), weights = numbers(c.weights());
    Tensor expected = Tensor::zeros(DType::f32, c.src());
    float* sums = expected.mutable_data<float>();
    for_each_product(c, [&](int64_t src, int64_t w, int64_t dst) {
      sums[src] += diff_dst.data<float>()[dst] * weights.data<float>()[w];
    });
    int configs = 0;
    for (const Layout layout : {Layout::plain, Layout::nhwc, Layout::nchw16c}) {
      Workload workload;
      workload.domain = "attune";
      workload.op = "ConvGradData";
      workload.version = 1;
      workload.attributes = c.attributes();
      workload.inputs = {operand(c.dst(), layout), constant(c.weights())};
      workload.outputs = {operand(c.src(), layout)};
      configs += check_every_config("onednn", workload, {{diff_dst, weights}, {expected}}, 1e-5);
    }
    EXPECT_GT(configs, 0);
  }
}

TEST_F(OnednnConvGrad, gradients_of_weights_and_bias_agree_in_every_layout) {
  for (const Case& c : kCases) {
    const Tensor src = numbers(c.src()), diff_dst = numbers(c.dst());
    Tensor diff_weights = Tensor::zeros(DType::f32, c.weights());
    Tensor diff_bias = Tensor::zeros(DType::f32, {c.out_channels});
    float* sums = diff_weights.mutable_data<float>();
    for_each_product(
        c, [&](int64_t s, int64_t w, int64_t dst) { sums[w] += src.data<float>()[s] * diff_dst.data<float>()[dst]; });
    const int64_t pixels = c.out_size() * c.out_size();
    for (int64_t i = 0; i < diff_dst.count(); ++i)
      diff_bias.mutable_data<float>()[i / pixels % c.out_channels] += diff_dst.data<float>()[i];
    int configs = 0;
    for (const Layout layout : {Layout::plain, Layout::nhwc, Layout::nchw16c}) {
      Workload workload;
      workload.domain = "attune";
      workload.op = "ConvGradWeights";
      workload.version = 1;
      workload.attributes = c.attributes();
      workload.inputs = {operand(c.src(), layout), operand(c.dst(), layout)};
      workload.outputs = {operand(c.weights()), operand({c.out_channels})};
      configs += check_every_config("onednn", workload, {{src, diff_dst}, {diff_weights, diff_bias}}, 1e-5);
      workload.outputs.pop_back();
      configs += check_every_config("onednn", workload, {{src, diff_dst}, {diff_weights}}, 1e-5);
    }
    EXPECT_GT(configs, 0);
  }
}

}  // namespace
}  // namespace attune::testing
