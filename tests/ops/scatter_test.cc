#include "ops/op_case.h"

namespace attune::test {
namespace {

OpCase scatter_elements(const char* reduction) {
  return OpCase("ScatterElements")
      .input(f32({3}, {1, 2, 3}))
      .input(i64({2}, {-1, -1}))
      .input(f32({2}, {5, 2}))
      .attr("reduction", std::string(reduction));
}

TEST(ScatterElements, reduces_repeated_indices) {
  expect_near(scatter_elements("none").run()[0], f32({3}, {1, 2, 2}));
  expect_near(scatter_elements("add").run()[0], f32({3}, {1, 2, 10}));
  expect_near(scatter_elements("mul").run()[0], f32({3}, {1, 2, 30}));
  expect_near(scatter_elements("max").run()[0], f32({3}, {1, 2, 5}));
  expect_near(scatter_elements("min").run()[0], f32({3}, {1, 2, 2}));
  EXPECT_THROW(scatter_elements("mean").run(), UserError);
}

TEST(ScatterElements, leaves_its_input_alone) {
  const Tensor x = f32({1}, {1});
  OpCase("ScatterElements").input(x).input(i64({1}, {0})).input(f32({1}, {2})).run();
  EXPECT_EQ(x.data<float>()[0], 1);
}

TEST(ScatterND, writes_slices_and_checks_shapes) {
  const Tensor x = f32({2, 2}, {1, 2, 3, 4});
  expect_near(OpCase("ScatterND").input(x).input(i64({1, 1}, {-1})).input(f32({1, 2}, {8, 9})).run()[0],
              f32({2, 2}, {1, 2, 8, 9}));
  EXPECT_THROW(OpCase("ScatterND").input(x).input(i64({1, 1}, {2})).input(f32({1, 2}, {8, 9})).run(), UserError);
  EXPECT_THROW(OpCase("ScatterND").input(x).input(i64({1, 1}, {0})).input(f32({1, 1}, {8})).run(), UserError);
}

TEST(TensorScatter, wraps_only_when_circular) {
  OpCase linear =
      OpCase("TensorScatter", 24).input(f32({1, 3, 1}, {1, 2, 3})).input(f32({1, 2, 1}, {8, 9})).input(i64({1}, {2}));
  EXPECT_THROW(linear.run(), UserError);
  expect_near(linear.attr("mode", std::string("circular")).run()[0], f32({1, 3, 1}, {9, 2, 8}));
}

}  // namespace
}  // namespace attune::test
