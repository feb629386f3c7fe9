// Rows, labels and the transforms of scores that the models of ai.onnx.ml share.
#include "ops/ml_parts.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attune {
namespace {

double logistic(double value) { return 1 / (1 + std::exp(-value)); }

/// The inverse of the error function after Winitzki (2008), which runtimes use for this operator: 2e-3 relative.
double inverse_erf(double value) {
  constexpr double kA = 0.147;
  const double log = std::log((1 - value) * (1 + value));
  const double half = 2 / (std::numbers::pi * kA) + log / 2;
  return std::copysign(std::sqrt(std::sqrt(half * half - log / kA) - half), value);
}

double probit(double value) { return std::numbers::sqrt2 * inverse_erf(2 * value - 1); }

void softmax(std::span<double> scores) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - largest);
  for (double& score : scores) score /= sum;
}

/// Softmax in which scores of zero stay zero.
void softmax_zero(std::span<double> scores) {
  constexpr double kZero = 1e-7;
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) {
    score = std::fabs(score) <= kZero ? 0 : std::exp(score - largest);
    sum += score;
  }
  for (double& score : scores) score = sum == 0 ? 0 : score / sum;
}

}  // namespace

FeatureRows feature_rows(const KernelContext& context, int i) {
  const Tensor& src = context.input(i);
  if (src.rank() == 1) return {1, src.dim(0)};
  if (src.rank() != 2) context.fail("input {} is {}, expected rows of features", i, to_text(src.dims()));
  return {src.dim(0), src.dim(1)};
}

Dim inferred_rows(const InferContext& context, int i) {
  const auto& shape = context.shape(i);
  if (!shape) return Dim::unknown();
  if (shape->empty() || shape->size() > 2)
    context.fail("input {} is {}, expected rows of features", i, to_text(*shape));
  return shape->size() == 1 ? Dim(1) : shape->front();
}

Dim inferred_features(const InferContext& context, int i) {
  const auto& shape = context.shape(i);
  return shape && !shape->empty() ? shape->back() : Dim::unknown();
}

std::vector<int64_t> integer_labels(const OpContext& context, std::string_view integers, std::string_view strings) {
  if (context.has_attr(strings) && !context.attr_strings(strings).empty())
    context.unsupported("class labels of strings ('{}') are not supported; use integer labels", strings);
  std::vector<int64_t> labels = context.attr_ints(integers);
  if (labels.empty()) context.fail("attribute '{}' is empty", integers);
  return labels;
}

void require_size(const OpContext& context, std::string_view name, size_t size, int64_t expected) {
  if (static_cast<int64_t>(size) != expected)
    context.fail("attribute '{}' has {} elements, expected {}", name, size, expected);
}

PostTransform post_transform_of(const OpContext& context) {
  const std::string text = context.attr_string("post_transform", "NONE");
  if (text == "NONE") return PostTransform::none;
  if (text == "SOFTMAX") return PostTransform::softmax;
  if (text == "LOGISTIC") return PostTransform::logistic;
  if (text == "SOFTMAX_ZERO") return PostTransform::softmax_zero;
  if (text == "PROBIT") return PostTransform::probit;
  context.fail("attribute 'post_transform' is '{}', expected NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT", text);
}

void apply_post_transform(PostTransform transform, std::span<double> scores) {
  if (transform == PostTransform::probit) {
    for (double& score : scores) score = probit(score);
    return;
  }
  if (scores.size() < 2) return;
  if (transform == PostTransform::softmax) softmax(scores);
  if (transform == PostTransform::softmax_zero) softmax_zero(scores);
  if (transform == PostTransform::logistic)
    for (double& score : scores) score = logistic(score);
}

std::array<double, 2> two_scores(double score, SecondClass second, PostTransform transform) {
  if (transform == PostTransform::logistic) return {logistic(-score), logistic(score)};
  std::array<double, 2> scores{second == SecondClass::complement ? 1 - score : -score, score};
  if (transform == PostTransform::probit) apply_post_transform(transform, scores);
  return scores;
}

}  // namespace attune
