#include "ops/op_case.h"

#include "base/error.h"

namespace attune::test {
namespace {

OpCase batch_norm(int version) {
  OpCase op("BatchNormalization", version);
  op.input(f32({2, 2, 1}, {1, 2, 3, 6})).input(f32({2}, {1, 2})).input(f32({2}, {0, 1}));
  op.input(f32({2}, {1, 2})).input(f32({2}, {1, 4})).attr("epsilon", 0.0f);
  return op;
}

TEST(BatchNormalization, uses_the_given_statistics) {
  expect_near(batch_norm(15).run()[0], f32({2, 2, 1}, {0, 1, 2, 5}));
}

TEST(BatchNormalization, computes_batch_statistics_and_updates_running_ones_in_training) {
  const auto outputs = batch_norm(15).attr("training_mode", int64_t{1}).attr("momentum", 0.5f).outputs(3).run();
  expect_near(outputs[0], f32({2, 2, 1}, {-1, -1, 1, 3}));
  expect_near(outputs[1], f32({2}, {1.5f, 3}));
  expect_near(outputs[2], f32({2}, {1, 4}));
}

TEST(BatchNormalization, treats_every_element_as_a_channel_without_spatial) {
  OpCase op("BatchNormalization", 7);
  op.input(f32({1, 1, 2}, {3, 5})).input(f32({1, 2}, {1, 10})).input(f32({1, 2}, {0, 0}));
  op.input(f32({1, 2}, {1, 1})).input(f32({1, 2}, {1, 1})).attr("epsilon", 0.0f).attr("spatial", int64_t{0});
  expect_near(op.run()[0], f32({1, 1, 2}, {2, 40}));
}

TEST(BatchNormalization, refuses_statistics_of_another_size) {
  OpCase op("BatchNormalization");
  op.input(f32({1, 2}, {3, 5})).input(f32({1}, {1})).input(f32({1}, {1})).input(f32({1}, {1})).input(f32({1}, {1}));
  EXPECT_THROW(op.run(), UserError);
}

TEST(GroupNormalization, has_parameters_for_groups_before_opset_21_and_for_channels_since) {
  const Tensor src = f32({1, 4, 1}, {1, 3, 10, 30});
  const auto run = [&](int version, const Tensor& scale, const Tensor& bias) {
    return OpCase("GroupNormalization", version)
        .input(src)
        .input(scale)
        .input(bias)
        .attr("num_groups", int64_t{2})
        .attr("epsilon", 0.0f)
        .run()[0];
  };
  expect_near(run(18, f32({2}, {1, 2}), f32({2}, {0, 1})), f32({1, 4, 1}, {-1, 1, -1, 3}));
  expect_near(run(21, f32({4}, {1, 2, 3, 4}), f32({4}, {0, 0, 0, 0})), f32({1, 4, 1}, {-1, 2, -3, 4}));
  EXPECT_THROW(run(21, f32({2}, {1, 2}), f32({2}, {0, 1})), UserError);
}

TEST(LayerNormalization, gives_mean_and_inverse_deviation) {
  const auto outputs = OpCase("LayerNormalization")
                           .input(f32({2, 2}, {1, 3, 10, 30}))
                           .input(f32({2}, {1, 2}))
                           .input(f32({2}, {5, 5}))
                           .attr("epsilon", 0.0f)
                           .outputs(3)
                           .run();
  expect_near(outputs[0], f32({2, 2}, {4, 7, 4, 7}));
  expect_near(outputs[1], f32({2, 1}, {2, 20}));
  expect_near(outputs[2], f32({2, 1}, {1, 0.1f}));
}

TEST(LayerNormalization, broadcasts_a_scale_that_differs_by_row) {
  expect_near(OpCase("LayerNormalization")
                  .input(f32({2, 2}, {1, 3, 10, 30}))
                  .input(f32({2, 1}, {1, 10}))
                  .attr("epsilon", 0.0f)
                  .run()[0],
              f32({2, 2}, {-1, 1, -10, 10}));
  EXPECT_THROW(OpCase("LayerNormalization").input(f32({1, 2}, {1, 3})).input(f32({3}, {1, 1, 1})).run(), UserError);
}

TEST(RMSNormalization, divides_by_the_root_mean_square) {
  expect_near(
      OpCase("RMSNormalization", 23).input(f32({1, 2}, {1, 7})).input(f32({2}, {1, 2})).attr("epsilon", 0.0f).run()[0],
      f32({1, 2}, {0.2f, 2.8f}));
}

TEST(LpNormalization, leaves_zeros_for_a_zero_norm) {
  expect_near(OpCase("LpNormalization").input(f32({2, 2}, {3, -4, 0, 0})).run()[0], f32({2, 2}, {0.6f, -0.8f, 0, 0}));
  expect_near(OpCase("LpNormalization").input(f32({2}, {3, -1})).attr("p", int64_t{1}).run()[0],
              f32({2}, {0.75f, -0.25f}));
}

TEST(MeanVarianceNormalization, normalizes_over_any_axes) {
  expect_near(OpCase("MeanVarianceNormalization")
                  .input(f32({2, 2}, {1, 10, 3, 30}))
                  .attr("axes", std::vector<int64_t>{0})
                  .run()[0],
              f32({2, 2}, {-1, -1, 1, 1}), 1e-5);
}

}  // namespace
}  // namespace attune::test
