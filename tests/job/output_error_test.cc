// The error that an accuracy budget is about.
#include "job/precision/output_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace attune {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

Tensor floats(const std::vector<float>& values) {
  return Tensor::from<float>({static_cast<int64_t>(values.size())}, values);
}
Tensor whole(const std::vector<int64_t>& values) { return Tensor::vector(values); }

TEST(OutputError, is_the_largest_difference_over_the_root_mean_square_of_the_truth) {
  EXPECT_EQ(output_error(floats({1, 2, 3}), floats({1, 2, 3})), 0);
  EXPECT_NEAR(output_error(floats({3, 4.5F}), floats({3, 4})), 0.5 / std::sqrt(12.5), 1e-12);
  EXPECT_NEAR(output_error(floats({-1, 1, 1, 1}), floats({1, 1, 1, 1})), 2, 1e-12);
}

TEST(OutputError, is_infinite_where_a_number_became_none) {
  EXPECT_TRUE(std::isinf(output_error(floats({1, kNan}), floats({1, 2}))));
  EXPECT_TRUE(std::isinf(output_error(floats({1, kInf}), floats({1, 2}))));
  EXPECT_TRUE(std::isinf(output_error(floats({1, 2}), floats({1, kNan}))));
  EXPECT_TRUE(std::isinf(output_error(floats({1, -kInf}), floats({1, kInf}))));
}

TEST(OutputError, leaves_out_what_is_no_number_in_both) {
  EXPECT_EQ(output_error(floats({1, kNan, -kInf}), floats({1, kNan, -kInf})), 0);
  EXPECT_NEAR(output_error(floats({2, -kInf, kNan}), floats({4, -kInf, kNan})), 0.5, 1e-12);
}

TEST(OutputError, allows_no_difference_from_nothing_but_zeros) {
  EXPECT_EQ(output_error(floats({0, 0}), floats({0, 0})), 0);
  EXPECT_TRUE(std::isinf(output_error(floats({0, 1e-30F}), floats({0, 0}))));
  EXPECT_EQ(output_error(floats({}), floats({})), 0);
}

TEST(OutputError, of_integers_is_all_or_nothing) {
  EXPECT_EQ(output_error(whole({1, 2}), whole({1, 2})), 0);
  EXPECT_EQ(output_error(whole({1, 3}), whole({1, 2})), 1);
  const bool yes = true, no = false;
  EXPECT_EQ(output_error(Tensor::scalar(yes), Tensor::scalar(yes)), 0);
  EXPECT_EQ(output_error(Tensor::scalar(no), Tensor::scalar(yes)), 1);
}

TEST(OutputError, is_infinite_where_type_or_shape_differ) {
  EXPECT_TRUE(std::isinf(output_error(floats({1}), floats({1, 2}))));
  EXPECT_TRUE(std::isinf(output_error(whole({1}), floats({1}))));
}

TEST(OutputError, is_the_largest_of_all_outputs) {
  const std::vector<Tensor> truth{floats({1, 1}), whole({4}), floats({2})};
  EXPECT_EQ(output_error(truth, truth), 0);
  EXPECT_NEAR(output_error(std::vector<Tensor>{floats({1, 1.5F}), whole({4}), floats({3.5F})}, truth), 0.75, 1e-12);
  EXPECT_NEAR(output_error(std::vector<Tensor>{floats({1, 1}), whole({5}), floats({2})}, truth), 1, 1e-12);
}

}  // namespace
}  // namespace attune
