#include "ops/op_case.h"

#include "base/error.h"

#include <limits>

namespace attune::test {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

OpCase ml(const char* op, int version = 3) { return OpCase(op, version, "ai.onnx.ml"); }

/// x0 <= 1 gives the first weight, else the second.
OpCase stump(const char* op, const std::string& prefix) {
  OpCase result = ml(op);
  result.attr("nodes_treeids", Ints{0, 0, 0}).attr("nodes_nodeids", Ints{0, 1, 2});
  result.attr("nodes_featureids", Ints{0, 0, 0}).attr("nodes_values", Floats{1, 0, 0});
  result.attr("nodes_modes", Strings{"BRANCH_LEQ", "LEAF", "LEAF"});
  result.attr("nodes_truenodeids", Ints{1, 0, 0}).attr("nodes_falsenodeids", Ints{2, 0, 0});
  result.attr(prefix + "_treeids", Ints{0, 0}).attr(prefix + "_nodeids", Ints{1, 2});
  result.attr(prefix + "_ids", Ints{0, 0}).attr(prefix + "_weights", Floats{-3, 5});
  return result;
}

TEST(TreeEnsembleRegressor, follows_branches_and_adds_base_values) {
  expect_near(stump("TreeEnsembleRegressor", "target")
                  .input(f32({2, 1}, {1, 2}))
                  .attr("n_targets", int64_t{1})
                  .attr("base_values", Floats{10})
                  .run()[0],
              f32({2, 1}, {7, 15}));
}

TEST(TreeEnsembleRegressor, sends_missing_values_where_the_node_says) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  OpCase op = stump("TreeEnsembleRegressor", "target").input(f32({1, 1}, {nan}));
  expect_near(op.run()[0], f32({1, 1}, {5}));
  expect_near(op.attr("nodes_missing_value_tracks_true", Ints{1, 0, 0}).run()[0], f32({1, 1}, {-3}));
}

TEST(TreeEnsembleRegressor, refuses_damaged_trees) {
  const auto op = [] { return stump("TreeEnsembleRegressor", "target").input(f32({1, 1}, {0})); };
  EXPECT_THROW(op().attr("nodes_truenodeids", Ints{0, 0, 0}).run(), UserError) << "a cycle";
  EXPECT_THROW(op().attr("nodes_truenodeids", Ints{9, 0, 0}).run(), UserError) << "a missing child";
  EXPECT_THROW(op().attr("nodes_featureids", Ints{1, 0, 0}).run(), UserError) << "a missing feature";
  EXPECT_THROW(op().attr("nodes_featureids", Ints{-1, 0, 0}).run(), UserError) << "a negative feature";
  EXPECT_THROW(op().attr("nodes_nodeids", Ints{0, 1, 1}).run(), UserError) << "a node given twice";
  EXPECT_THROW(op().attr("nodes_values", Floats{1}).run(), UserError) << "lists of different length";
  EXPECT_THROW(op().attr("target_ids", Ints{0, 7}).run(), UserError) << "a target out of range";
}

TEST(TreeEnsembleClassifier, reads_one_margin_as_two_classes) {
  const auto outputs = stump("TreeEnsembleClassifier", "class")
                           .input(f32({2, 1}, {1, 2}))
                           .attr("classlabels_int64s", Ints{40, 70})
                           .outputs(2)
                           .run();
  expect_near(outputs[0], i64({2}, {40, 70}));
  expect_near(outputs[1], f32({2, 2}, {3, -3, -5, 5}));
}

TEST(TreeEnsembleClassifier, does_not_support_labels_of_strings) {
  EXPECT_THROW(stump("TreeEnsembleClassifier", "class")
                   .input(f32({1, 1}, {1}))
                   .attr("classlabels_strings", Strings{"a", "b"})
                   .run(),
               UnsupportedError);
}

TEST(LinearClassifier, decides_two_classes_by_the_sign_of_one_score) {
  const auto outputs = ml("LinearClassifier")
                           .input(f32({2, 2}, {1, 1, -1, -1}))
                           .attr("coefficients", Floats{1, 2})
                           .attr("intercepts", Floats{0})
                           .attr("classlabels_ints", Ints{4, 9})
                           .outputs(2)
                           .run();
  expect_near(outputs[0], i64({2}, {9, 4}));
  expect_near(outputs[1], f32({2, 2}, {-2, 3, 4, -3}));
}

TEST(LinearRegressor, refuses_coefficients_that_do_not_fit) {
  EXPECT_THROW(ml("LinearRegressor").input(f32({1, 2}, {1, 1})).attr("coefficients", Floats{1, 2, 3}).run(), UserError);
}

TEST(SVMRegressor, sums_kernels_over_support_vectors) {
  OpCase op = ml("SVMRegressor").input(f32({1, 2}, {1, 2}));
  op.attr("support_vectors", Floats{1, 0, 0, 1}).attr("coefficients", Floats{10, 100}).attr("rho", Floats{0.5f});
  expect_near(op.attr("n_supports", int64_t{2}).run()[0], f32({1, 1}, {210.5f}));
  EXPECT_THROW(op.attr("n_supports", int64_t{3}).run(), UserError);
}

TEST(LabelEncoder, maps_numbers_and_lets_the_last_of_equal_keys_win) {
  expect_near(ml("LabelEncoder", 4)
                  .input(i64({3}, {1, 2, 5}))
                  .attr("keys_int64s", Ints{1, 5, 1})
                  .attr("values_floats", Floats{10, 50, 11})
                  .attr("default_float", -1.0f)
                  .run()[0],
              f32({3}, {11, -1, 50}));
}

TEST(OneHotEncoder, refuses_unknown_categories_when_told) {
  OpCase op = ml("OneHotEncoder").input(i64({2}, {7, 3})).attr("cats_int64s", Ints{3, 4});
  expect_near(op.run()[0], f32({2, 2}, {0, 0, 1, 0}));
  EXPECT_THROW(op.attr("zeros", int64_t{0}).run(), UserError);
}

TEST(ArrayFeatureExtractor, checks_its_indices) {
  expect_near(ml("ArrayFeatureExtractor").input(f32({2, 2}, {1, 2, 3, 4})).input(i64({2}, {1, 1})).run()[0],
              f32({2, 2}, {2, 2, 4, 4}));
  EXPECT_THROW(ml("ArrayFeatureExtractor").input(f32({1, 2}, {1, 2})).input(i64({1}, {2})).run(), UserError);
  EXPECT_THROW(ml("ArrayFeatureExtractor").input(f32({1, 2}, {1, 2})).input(i64({1}, {-1})).run(), UserError);
}

TEST(Imputer, replaces_missing_values_by_feature) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_near(ml("Imputer")
                  .input(f32({2, 2}, {nan, 1, 2, nan}))
                  .attr("imputed_value_floats", Floats{7, 8})
                  .attr("replaced_value_float", nan)
                  .run()[0],
              f32({2, 2}, {7, 1, 2, 8}));
}

}  // namespace
}  // namespace attune::test
