#include "ops/op_case.h"

namespace attune::test {
namespace {

TEST(LRN, divides_by_the_energy_of_neighbouring_channels) {
  const Tensor result = OpCase("LRN")
                            .input(f32({1, 3, 1}, {1, 2, 3}))
                            .attr("size", int64_t{3})
                            .attr("alpha", 3.0f)
                            .attr("beta", 1.0f)
                            .attr("bias", 1.0f)
                            .run()[0];
  expect_near(result, f32({1, 3, 1}, {1.0f / 6, 2.0f / 15, 3.0f / 14}));
  EXPECT_THROW(OpCase("LRN").input(f32({1, 1}, {1})).attr("size", int64_t{0}).run(), UserError);
}

}  // namespace
}  // namespace attune::test
