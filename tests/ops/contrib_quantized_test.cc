#include "ops/elementwise_case.h"

namespace attune::test {
namespace {

OpCase contrib(const std::string& op) { return OpCase(op, 1, "com.microsoft"); }

TEST(ContribQuantized, add_and_mul_requantize) {
  const Tensor a = u8({2}, {10, 20}), b = u8({1}, {4}), zero = u8({}, {2}), scale = f32({}, {0.5f});
  auto run = [&](const std::string& op) {
    return contrib(op).input(a).input(scale).input(zero).input(b).input(scale).no_input().input(f32({}, {1})).run()[0];
  };
  expect_near(run("QLinearAdd"), u8({2}, {6, 11}));
  expect_near(run("QLinearMul"), u8({2}, {8, 18}));
}

TEST(ContribQuantized, average_pool_leaves_padding_out_unless_told) {
  auto run = [](int64_t include) {
    return contrib("QLinearAveragePool")
        .input(u8({1, 1, 2}, {4, 8}))
        .input(f32({}, {1}))
        .input(u8({}, {0}))
        .input(f32({}, {1}))
        .input(u8({}, {0}))
        .attr("kernel_shape", std::vector<int64_t>{2})
        .attr("pads", std::vector<int64_t>{1, 1})
        .attr("count_include_pad", include)
        .run()[0];
  };
  expect_near(run(0), u8({1, 1, 3}, {4, 6, 8}));
  expect_near(run(1), u8({1, 1, 3}, {2, 6, 4}));
}

TEST(ContribQuantized, concat_brings_operands_to_one_scale) {
  const Tensor y = contrib("QLinearConcat")
                       .input(f32({}, {1}))
                       .input(u8({}, {0}))
                       .input(u8({1, 2}, {1, 2}))
                       .input(f32({}, {2}))
                       .input(u8({}, {0}))
                       .input(u8({1, 1}, {7}))
                       .input(f32({}, {1}))
                       .input(u8({}, {4}))
                       .attr("axis", int64_t{1})
                       .run()[0];
  expect_near(y, u8({1, 3}, {2, 4, 3}));
}

TEST(ContribQuantized, qgemm_gives_floats_without_a_zero_point) {
  const Tensor y = contrib("QGemm")
                       .input(u8({1, 2}, {3, 4}))
                       .input(f32({}, {0.5f}))
                       .input(u8({}, {1}))
                       .input(i8({1, 2}, {1, 2}))
                       .input(f32({}, {2}))
                       .input(i8({}, {0}))
                       .input(i32({1}, {2}))
                       .attr("transB", int64_t{1})
                       .run()[0];
  expect_near(y, f32({1, 1}, {10}));
}

}  // namespace
}  // namespace attune::test
