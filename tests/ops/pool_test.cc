#include "ops/op_case.h"

namespace attune::test {
namespace {

using Ints = std::vector<int64_t>;
const float kNan = std::numeric_limits<float>::quiet_NaN();

OpCase pool(const std::string& op, Tensor src, Ints kernel) {
  OpCase result(op);
  result.input(std::move(src)).attr("kernel_shape", std::move(kernel));
  return result;
}

TEST(MaxPool, gives_maxima_and_their_indices) {
  auto results =
      pool("MaxPool", f32({1, 2, 2, 3}, {1, 5, 2, 4, 3, 6, -1, -2, -3, -4, -5, -6}), {2, 2}).outputs(2).run();
  expect_near(results[0], f32({1, 2, 1, 2}, {5, 6, -1, -2}));
  expect_near(results[1], i64({1, 2, 1, 2}, {1, 5, 6, 7}));
  results =
      pool("MaxPool", f32({1, 1, 2, 3}, {1, 5, 2, 4, 3, 6}), {2, 2}).attr("storage_order", int64_t{1}).outputs(2).run();
  expect_near(results[1], i64({1, 1, 1, 2}, {2, 5}));  // rows run fastest
}

TEST(MaxPool, ignores_padding_and_keeps_not_a_number) {
  expect_near(pool("MaxPool", f32({1, 1, 3}, {-5, kNan, -7}), {2}).attr("pads", Ints{1, 1}).run()[0],
              f32({1, 1, 4}, {-5, kNan, kNan, -7}));
}

TEST(MaxPool, drops_a_last_window_that_starts_in_the_padding) {
  expect_near(
      pool("MaxPool", f32({1, 1, 2}, {1, 2}), {1}).attr("strides", Ints{2}).attr("ceil_mode", int64_t{1}).run()[0],
      f32({1, 1, 1}, {1}));
  expect_near(pool("MaxPool", f32({1, 1, 4}, {1, 2, 3, 4}), {3})
                  .attr("strides", Ints{2})
                  .attr("ceil_mode", int64_t{1})
                  .run()[0],
              f32({1, 1, 2}, {3, 4}));
}

TEST(AveragePool, counts_padding_only_when_told) {
  const Tensor src = f32({1, 1, 3}, {3, 6, 9});
  expect_near(pool("AveragePool", src, {3}).attr("pads", Ints{1, 1}).run()[0], f32({1, 1, 3}, {4.5, 6, 7.5}));
  expect_near(pool("AveragePool", src, {3}).attr("pads", Ints{1, 1}).attr("count_include_pad", int64_t{1}).run()[0],
              f32({1, 1, 3}, {3, 6, 5}));
  expect_near(pool("AveragePool", src, {2}).attr("dilations", Ints{2}).run()[0], f32({1, 1, 1}, {6}));
}

TEST(AveragePool, survives_windows_far_larger_than_the_input) {
  const Tensor result = pool("AveragePool", f32({1, 1, 2}, {2, 4}), {(int64_t{1} << 31) - 1})
                            .attr("pads", Ints{(int64_t{1} << 31) - 3, 0})
                            .run()[0];
  expect_near(result, f32({1, 1, 1}, {3}));
}

TEST(LpPool, takes_the_norm) {
  expect_near(pool("LpPool", f32({1, 1, 2}, {3, -4}), {2}).run()[0], f32({1, 1, 1}, {5}));
  expect_near(pool("LpPool", f32({1, 1, 2}, {3, -4}), {2}).attr("p", int64_t{1}).run()[0], f32({1, 1, 1}, {7}));
  EXPECT_THROW(pool("LpPool", f32({1, 1, 2}, {3, -4}), {2}).attr("p", int64_t{0}).run(), UserError);
}

TEST(GlobalPool, reduces_every_channel) {
  const Tensor src = f32({1, 2, 2}, {1, 3, -3, 4});
  expect_near(OpCase("GlobalAveragePool").input(src).run()[0], f32({1, 2, 1}, {2, 0.5}));
  expect_near(OpCase("GlobalMaxPool").input(src).run()[0], f32({1, 2, 1}, {3, 4}));
  expect_near(OpCase("GlobalLpPool").input(src).run()[0], f32({1, 2, 1}, {std::sqrt(10.0f), 5}));
}

TEST(MaxUnpool, puts_elements_back_and_checks_indices) {
  const auto unpool = [](int64_t index) {
    return OpCase("MaxUnpool")
        .input(f32({1, 1, 1, 1}, {5}))
        .input(i64({1, 1, 1, 1}, {index}))
        .attr("kernel_shape", Ints{2, 2})
        .run()[0];
  };
  expect_near(unpool(3), f32({1, 1, 2, 2}, {0, 0, 0, 5}));
  EXPECT_THROW(unpool(4), UserError);
  EXPECT_THROW(unpool(-1), UserError);
}

TEST(Pool, refuses_kernels_of_another_rank_or_size) {
  EXPECT_THROW(pool("MaxPool", f32({1, 1, 2}, {1, 2}), {1, 1}).run(), UserError);
  EXPECT_THROW(pool("MaxPool", f32({1, 1, 2}, {1, 2}), {0}).run(), UserError);
  EXPECT_THROW(pool("MaxPool", f32({1, 1, 2}, {1, 2}), {9}).run(), UserError);
  EXPECT_THROW(OpCase("MaxPool").input(f32({1, 1, 2}, {1, 2})).run(), UserError);
}

}  // namespace
}  // namespace attune::test
