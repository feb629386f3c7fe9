#include "base/random.h"

#include "ops/op_case.h"

namespace attune::test {
namespace {

OpCase normal(float seed) {
  return OpCase("RandomNormal").attr("shape", std::vector<int64_t>{1000}).attr("seed", seed).attr("mean", 3.0f);
}

TEST(Random, gives_the_same_numbers_everywhere) {
  Random random(1);
  EXPECT_EQ(random.next(), 0x910a2dec89025cc1u);  // first output of the published SplitMix64 for seed 1
  for (int i = 0; i < 1000; ++i) {
    const int64_t value = random.below(3);
    EXPECT_TRUE(value >= 0 && value < 3);
  }
}

TEST(RandomNormal, follows_its_seed_and_its_moments) {
  const Tensor a = normal(1).run()[0], b = normal(1).run()[0], c = normal(2).run()[0];
  expect_near(a, b, 0);
  double sum = 0;
  bool differs = false;
  for (int64_t i = 0; i < a.count(); ++i) {
    sum += a.data<float>()[i];
    differs |= a.data<float>()[i] != c.data<float>()[i];
  }
  EXPECT_TRUE(differs);
  EXPECT_NEAR(sum / 1000, 3, 0.15);
}

TEST(Bernoulli, never_draws_the_impossible) {
  expect_near(OpCase("Bernoulli").input(f32({4}, {0, 1, 0, 1})).run()[0], f32({4}, {0, 1, 0, 1}));
}

TEST(Multinomial, draws_likely_classes) {
  const Tensor out = OpCase("Multinomial")
                         .input(f32({2, 2}, {0, -1000, -1000, 0}))
                         .attr("sample_size", int64_t{3})
                         .attr("dtype", int64_t{7})
                         .run()[0];
  expect_near(out, i64({2, 3}, {0, 0, 0, 1, 1, 1}));
  EXPECT_THROW(OpCase("Multinomial").input(f32({1, 0}, {})).run(), UserError);
}

}  // namespace
}  // namespace attune::test
