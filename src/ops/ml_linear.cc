// LinearClassifier and LinearRegressor: one dot product for each class or target.
#include "ops/convert.h"
#include "ops/gemm.h"
#include "ops/ml_parts.h"

#include <algorithm>

namespace attune {
namespace {

/// rows x targets: the products of the features with the coefficients of each target, plus its intercept.
Tensor linear_scores(const KernelContext& context, const FeatureRows& rows, int64_t targets) {
  const auto& coefficients = context.attr_floats("coefficients");
  const auto intercepts = context.attr_floats("intercepts", {});
  if (rows.features > 0) {
    if (static_cast<int64_t>(coefficients.size()) % rows.features != 0 ||
        static_cast<int64_t>(coefficients.size()) / rows.features != targets)
      context.fail("{} coefficients do not give {} targets of {} features", coefficients.size(), targets,
                   rows.features);
  }
  const Tensor src = convert(context.input(0), DType::f32);
  Tensor scores = Tensor::zeros(DType::f32, {rows.rows, targets});
  float* out = scores.mutable_data<float>();
  if (rows.features > 0 && rows.rows > 0)
    gemm(rows.rows, targets, rows.features, MatrixView<float>{src.data<float>(), rows.features, 1},
         MatrixView<float>{coefficients.data(), 1, rows.features}, out, targets);
  if (static_cast<int64_t>(intercepts.size()) == targets)
    for (int64_t i = 0; i < scores.count(); ++i) out[i] += intercepts[static_cast<size_t>(i % targets)];
  return scores;
}

/// Classes with coefficients of their own: two labels may share one set, whose score decides between them.
int64_t coefficient_sets(const OpContext& context, int64_t label_count) {
  const auto intercepts = context.attr_floats("intercepts", {});
  return intercepts.size() == 1 && label_count == 2 ? 1 : label_count;
}

int64_t target_count(const OpContext& context) {
  const int64_t targets = context.attr_int("targets", 1);
  if (targets < 1 || targets > static_cast<int64_t>(context.attr_floats("coefficients").size()))
    context.fail("attribute 'targets' is {}, but there are {} coefficients", targets,
                 context.attr_floats("coefficients").size());
  return targets;
}

}  // namespace

void infer_linear_classifier(InferContext& context) {
  const auto labels = integer_labels(context, "classlabels_ints", "classlabels_strings");
  context.attr_floats("coefficients");
  const Dim rows = inferred_rows(context, 0);
  context.set_output(0, DType::i64, Shape{rows});
  context.set_output(1, DType::f32, Shape{rows, static_cast<int64_t>(labels.size())});
}

void run_linear_classifier(KernelContext& context) {
  const auto labels = integer_labels(context, "classlabels_ints", "classlabels_strings");
  const auto classes = static_cast<int64_t>(labels.size());
  const int64_t sets = coefficient_sets(context, classes);
  const PostTransform transform = post_transform_of(context);
  const FeatureRows rows = feature_rows(context, 0);
  const Tensor score_tensor = linear_scores(context, rows, sets);
  const float* all = score_tensor.data<float>();
  int64_t* label = context.output(0).mutable_data<int64_t>();
  float* out = context.wants_output(1) ? context.output(1).mutable_data<float>() : nullptr;
  std::vector<double> scores;
  for (int64_t row = 0; row < rows.rows; ++row) {
    scores.assign(all + row * sets, all + (row + 1) * sets);
    if (sets == 1 && classes == 2) {
      label[row] = labels[scores[0] > 0 ? 1 : 0];
      const auto both = two_scores(scores[0], SecondClass::complement, transform);
      scores.assign(both.begin(), both.end());
    } else {
      label[row] = labels[static_cast<size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin())];
      apply_post_transform(transform, scores);
    }
    if (out != nullptr)
      for (int64_t c = 0; c < classes; ++c) out[row * classes + c] = static_cast<float>(scores[static_cast<size_t>(c)]);
  }
}

void infer_linear_regressor(InferContext& context) {
  context.set_output(0, DType::f32, Shape{inferred_rows(context, 0), target_count(context)});
}

void run_linear_regressor(KernelContext& context) {
  const int64_t targets = target_count(context);
  const PostTransform transform = post_transform_of(context);
  const FeatureRows rows = feature_rows(context, 0);
  const Tensor score_tensor = linear_scores(context, rows, targets);
  const float* all = score_tensor.data<float>();
  float* out = context.output(0).mutable_data<float>();
  std::vector<double> scores;
  for (int64_t row = 0; row < rows.rows; ++row) {
    scores.assign(all + row * targets, all + (row + 1) * targets);
    apply_post_transform(transform, scores);
    for (int64_t t = 0; t < targets; ++t) out[row * targets + t] = static_cast<float>(scores[static_cast<size_t>(t)]);
  }
}

}  // namespace attune
