#include "ops/op_case.h"

#include <random>

namespace attune::test {
namespace {

using Ints = std::vector<int64_t>;

Tensor random_tensor(Dims dims, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Tensor tensor = Tensor::allocate(DType::f32, std::move(dims));
  for (int64_t i = 0; i < tensor.count(); ++i) tensor.mutable_data<float>()[i] = uniform(random);
  return tensor;
}

struct Attributes {
  int64_t group = 1;
  Ints pads{0, 0, 0, 0}, strides{1, 1}, dilations{1, 1};
};

/// The definition, for two spatial axes.
void expect_definition(const Tensor& src, const Tensor& weights, const Attributes& a) {
  const Tensor bias = random_tensor({weights.dim(0)}, 3);
  const Tensor dst = OpCase("Conv")
                         .input(src)
                         .input(weights)
                         .input(bias)
                         .attr("group", a.group)
                         .attr("pads", a.pads)
                         .attr("strides", a.strides)
                         .attr("dilations", a.dilations)
                         .run()[0];
  const int64_t per_group = weights.dim(1), out_per_group = weights.dim(0) / a.group;
  int64_t at = 0;
  for (int64_t n = 0; n < dst.dim(0); ++n)
    for (int64_t oc = 0; oc < dst.dim(1); ++oc)
      for (int64_t y = 0; y < dst.dim(2); ++y)
        for (int64_t x = 0; x < dst.dim(3); ++x, ++at) {
          double sum = bias.data<float>()[oc];
          for (int64_t c = 0; c < per_group; ++c)
            for (int64_t ky = 0; ky < weights.dim(2); ++ky)
              for (int64_t kx = 0; kx < weights.dim(3); ++kx) {
                const int64_t iy = y * a.strides[0] - a.pads[0] + ky * a.dilations[0];
                const int64_t ix = x * a.strides[1] - a.pads[1] + kx * a.dilations[1];
                if (iy < 0 || ix < 0 || iy >= src.dim(2) || ix >= src.dim(3)) continue;
                const int64_t ic = oc / out_per_group * per_group + c;
                sum += static_cast<double>(
                           src.data<float>()[((n * src.dim(1) + ic) * src.dim(2) + iy) * src.dim(3) + ix]) *
                       static_cast<double>(
                           weights.data<float>()[((oc * per_group + c) * weights.dim(2) + ky) * weights.dim(3) + kx]);
              }
          ASSERT_NEAR(dst.data<float>()[at], sum, 1e-5) << "element " << at;
        }
}

TEST(Conv, agrees_with_its_definition) {
  expect_definition(random_tensor({2, 3, 9, 11}, 1), random_tensor({5, 3, 3, 2}, 2), {});
  expect_definition(random_tensor({1, 4, 7, 8}, 1), random_tensor({6, 4, 1, 1}, 2), {});
  expect_definition(random_tensor({1, 4, 7, 8}, 1), random_tensor({6, 4, 1, 1}, 2), {.strides = {2, 3}});
  expect_definition(random_tensor({1, 2, 30, 41}, 1), random_tensor({3, 2, 5, 3}, 2),
                    {.pads = {2, 1, 0, 3}, .strides = {2, 1}, .dilations = {1, 4}});
  expect_definition(random_tensor({2, 6, 10, 7}, 1), random_tensor({4, 3, 3, 3}, 2),
                    {.group = 2, .pads = {1, 1, 1, 1}});
  expect_definition(random_tensor({1, 4, 9, 9}, 1), random_tensor({8, 1, 3, 3}, 2),
                    {.group = 4, .pads = {1, 2, 3, 0}, .strides = {1, 2}, .dilations = {2, 1}});
  expect_definition(random_tensor({1, 4, 9, 20}, 1), random_tensor({4, 1, 3, 3}, 2), {.group = 4});
}

TEST(Conv, pads_same_and_handles_one_and_no_spatial_axes) {
  expect_near(OpCase("Conv")
                  .input(f32({1, 1, 4}, {1, 2, 3, 4}))
                  .input(f32({1, 1, 2}, {1, 10}))
                  .attr("auto_pad", std::string("SAME_LOWER"))
                  .run()[0],
              f32({1, 1, 4}, {10, 21, 32, 43}));
  expect_near(OpCase("Conv").input(f32({1, 2}, {3, 4})).input(f32({1, 2}, {10, 1})).run()[0], f32({1, 1}, {34}));
}

TEST(Conv, gives_the_bias_where_there_is_nothing_to_sum) {
  expect_near(OpCase("Conv").input(f32({1, 0, 2}, {})).input(f32({1, 0, 1}, {})).input(f32({1}, {7})).run()[0],
              f32({1, 1, 2}, {7, 7}));
}

TEST(Conv, refuses_bad_attributes) {
  const auto conv = [] {
    OpCase result("Conv");
    result.input(f32({1, 1, 3}, {1, 2, 3})).input(f32({1, 1, 2}, {1, 1}));
    return result;
  };
  EXPECT_THROW(conv().attr("strides", Ints{0}).run(), UserError);
  EXPECT_THROW(conv().attr("dilations", Ints{-1}).run(), UserError);
  EXPECT_THROW(conv().attr("pads", Ints{-1, 0}).run(), UserError);
  EXPECT_THROW(conv().attr("pads", Ints{1}).run(), UserError);
  EXPECT_THROW(conv().attr("pads", Ints{int64_t{1} << 62, int64_t{1} << 62}).run(), UserError);
  EXPECT_THROW(conv().attr("dilations", Ints{100}).run(), UserError);
  EXPECT_THROW(conv().attr("group", int64_t{2}).run(), UserError);
  EXPECT_THROW(conv().attr("group", int64_t{0}).run(), UserError);
  EXPECT_THROW(conv().attr("auto_pad", std::string("SAME")).run(), UserError);
  EXPECT_THROW(conv().attr("kernel_shape", Ints{3}).run(), UserError);
}

}  // namespace
}  // namespace attune::test
