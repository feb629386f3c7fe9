#include "ops/op_case.h"

namespace attune::test {
namespace {

OpCase resize(Tensor src, Tensor scales) {
  OpCase result("Resize", 19);
  result.input(std::move(src)).no_input().input(std::move(scales));
  return result;
}

TEST(Resize, repeats_and_interpolates) {
  const Tensor src = f32({2, 2}, {1, 2, 3, 4});
  expect_near(resize(src, f32({2}, {1, 2})).run()[0], f32({2, 4}, {1, 1, 2, 2, 3, 3, 4, 4}));
  expect_near(resize(f32({2}, {0, 8}), f32({1}, {2})).attr("mode", std::string("linear")).run()[0],
              f32({4}, {0, 2, 6, 8}));
  expect_near(resize(f32({3}, {0, 4, 8}), f32({1}, {0.34f}))
                  .attr("mode", std::string("linear"))
                  .attr("antialias", int64_t{1})
                  .run()[0],
              f32({1}, {4}), 0.2);
}

TEST(Resize, computes_the_size_as_exporters_do) {
  EXPECT_EQ(resize(Tensor::zeros(DType::f32, {10}), f32({1}, {0.7f})).run()[0].dims(), Dims{7});
}

TEST(Resize, rounds_and_saturates_integers) {
  const uint8_t values[] = {0, 255};
  const Tensor result =
      resize(Tensor::from<uint8_t>({2}, values), f32({1}, {2})).attr("mode", std::string("cubic")).run()[0];
  EXPECT_EQ(result.data<uint8_t>()[0], 0);  // below 0 before it was rounded
  EXPECT_EQ(result.data<uint8_t>()[3], 255);
}

TEST(Resize, keeps_the_aspect_ratio_when_asked) {
  const Tensor result = OpCase("Resize", 19)
                            .input(Tensor::zeros(DType::f32, {2, 4}))
                            .no_input()
                            .no_input()
                            .input(i64({2}, {4, 4}))
                            .attr("keep_aspect_ratio_policy", std::string("not_larger"))
                            .run()[0];
  EXPECT_EQ(result.dims(), (Dims{2, 4}));
}

TEST(Resize, refuses_bad_scales_and_sizes) {
  const Tensor src = f32({2}, {1, 2});
  for (const float scale : {0.0f, -1.0f, std::numeric_limits<float>::infinity(), std::nanf(""), 1e30f})
    EXPECT_THROW(resize(src, f32({1}, {scale})).run(), UserError) << scale;
  EXPECT_THROW(resize(src, f32({2}, {1, 1})).run(), UserError);
  EXPECT_THROW(resize(src, f32({1}, {1})).attr("axes", std::vector<int64_t>{3}).run(), UserError);
  EXPECT_THROW(resize(src, f32({1}, {1})).attr("mode", std::string("quintic")).run(), UserError);
  EXPECT_THROW(OpCase("Resize", 19).input(src).run(), UserError);
  EXPECT_THROW(OpCase("Resize", 19).input(src).no_input().no_input().input(i64({1}, {-2})).run(), UserError);
}

TEST(Upsample, serves_both_opsets) {
  const Tensor src = f32({2}, {1, 2});
  const Tensor expected = f32({4}, {1, 1, 2, 2});
  expect_near(OpCase("Upsample", 9).input(src).input(f32({1}, {2})).run()[0], expected);
  expect_near(OpCase("Upsample", 7).input(src).attr("scales", std::vector<float>{2}).run()[0], expected);
  EXPECT_THROW(OpCase("Upsample", 10).input(src).input(f32({1}, {2})).run(), UnsupportedError);
}

}  // namespace
}  // namespace attune::test
