#include "ops/op_case.h"

namespace attune::test {
namespace {

TEST(DeformConv, reads_at_moved_positions) {
  const auto deform = [](Tensor offsets) {
    return OpCase("DeformConv")
        .input(f32({1, 1, 2, 2}, {1, 2, 3, 4}))
        .input(f32({1, 1, 1, 1}, {10}))
        .input(std::move(offsets))
        .run()[0];
  };
  expect_near(deform(f32({1, 2, 2, 2}, {0, 0, 0, 0, 0, 0, 0, 0})), f32({1, 1, 2, 2}, {10, 20, 30, 40}));
  // Half a row down for the first element, far outside for the last.
  expect_near(deform(f32({1, 2, 2, 2}, {0.5, 0, 0, 1e30f, 0, 0, 0, 0})), f32({1, 1, 2, 2}, {20, 20, 30, 0}));
  EXPECT_THROW(deform(f32({1, 1, 2, 2}, {0, 0, 0, 0})), UserError);
}

TEST(CausalConvWithState, continues_from_the_state) {
  auto results = OpCase("CausalConvWithState", 27)
                     .input(f32({1, 1, 2}, {3, 4}))
                     .input(f32({1, 1, 3}, {100, 10, 1}))
                     .no_input()
                     .input(f32({1, 1, 2}, {1, 2}))
                     .outputs(2)
                     .run();
  expect_near(results[0], f32({1, 1, 2}, {123, 234}));
  expect_near(results[1], f32({1, 1, 2}, {3, 4}));
  EXPECT_THROW(OpCase("CausalConvWithState", 27)
                   .input(f32({1, 1, 1}, {1}))
                   .input(f32({1, 1, 1}, {1}))
                   .attr("activation", std::string("relu"))
                   .run(),
               UserError);
}

}  // namespace
}  // namespace attune::test
