// SVMClassifier and SVMRegressor: kernels between the features and support vectors, or plain linear models.
#include "base/parallel.h"
#include "ops/convert.h"
#include "ops/ml_parts.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

enum class SvmKernel { linear, poly, rbf, sigmoid };

struct KernelFunction {
  SvmKernel kind = SvmKernel::linear;
  double gamma = 0, coef0 = 0, degree = 0;

  double operator()(const float* a, const float* b, int64_t count) const {
    double dot = 0;
    if (kind == SvmKernel::rbf) {
      for (int64_t i = 0; i < count; ++i) {
        const double distance = static_cast<double>(a[i]) - static_cast<double>(b[i]);
        dot += distance * distance;
      }
      return std::exp(-gamma * dot);
    }
    for (int64_t i = 0; i < count; ++i) dot += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    if (kind == SvmKernel::poly) return std::pow(gamma * dot + coef0, degree);
    return kind == SvmKernel::sigmoid ? std::tanh(gamma * dot + coef0) : dot;
  }
};

KernelFunction kernel_function(const OpContext& context) {
  KernelFunction kernel;
  const std::string text = context.attr_string("kernel_type", "LINEAR");
  if (text == "POLY")
    kernel.kind = SvmKernel::poly;
  else if (text == "RBF")
    kernel.kind = SvmKernel::rbf;
  else if (text == "SIGMOID")
    kernel.kind = SvmKernel::sigmoid;
  else if (text != "LINEAR")
    context.fail("attribute 'kernel_type' is '{}', expected LINEAR, POLY, RBF or SIGMOID", text);
  const auto parameters = context.attr_floats("kernel_params", {});
  if (!parameters.empty()) {
    require_size(context, "kernel_params", parameters.size(), 3);
    kernel.gamma = static_cast<double>(parameters[0]);
    kernel.coef0 = static_cast<double>(parameters[1]);
    kernel.degree = static_cast<double>(parameters[2]);
  }
  return kernel;
}

void require_count(const OpContext& context, std::string_view name, size_t size, int64_t per_item, int64_t items) {
  if (per_item > 0 ? static_cast<int64_t>(size) / per_item != items || static_cast<int64_t>(size) % per_item != 0
                   : size != 0)
    context.fail("attribute '{}' has {} elements, expected {} times {}", name, size, items, per_item);
}

struct ClassifierModel {
  std::vector<int64_t> labels;
  std::vector<int64_t> first_vector;  // of each class, and the total at the end; one element for linear models
  std::vector<float> vectors, coefficients, rho, prob_a, prob_b;
  KernelFunction kernel;

  int64_t classes() const { return static_cast<int64_t>(labels.size()); }
  int64_t vector_count() const { return first_vector.back(); }
  bool is_linear() const { return vector_count() == 0; }
  int64_t pairs() const { return classes() * (classes() - 1) / 2; }
  bool gives_probabilities() const { return !is_linear() && !prob_a.empty(); }
  int64_t score_count() const {
    if (is_linear() || gives_probabilities() || classes() == 2) return classes();
    return pairs();
  }
};

ClassifierModel classifier_model(const OpContext& context) {
  ClassifierModel model;
  model.labels = integer_labels(context, "classlabels_ints", "classlabels_strings");
  if (model.classes() > 65535) context.fail("{} classes are too many", model.classes());
  model.coefficients = context.attr_floats("coefficients");
  model.rho = context.attr_floats("rho");
  model.first_vector = {0};
  const auto per_class = context.attr_ints("vectors_per_class", {});
  if (per_class.empty()) {
    if (model.rho.empty()) context.fail("attribute 'rho' is empty");
    return model;
  }
  model.vectors = context.attr_floats("support_vectors");
  for (const int64_t count : per_class) {
    if (count < 0 || count > static_cast<int64_t>(model.vectors.size()))
      context.fail("attribute 'vectors_per_class' says {}, but there are {} numbers of support vectors", count,
                   model.vectors.size());
    model.first_vector.push_back(model.first_vector.back() + count);
  }
  if (model.is_linear()) {
    if (model.rho.empty()) context.fail("attribute 'rho' is empty");
    return model;
  }
  require_size(context, "vectors_per_class", per_class.size(), model.classes());
  if (model.classes() < 2) context.fail("support vectors need at least two classes");
  model.kernel = kernel_function(context);
  require_count(context, "coefficients", model.coefficients.size(), model.classes() - 1, model.vector_count());
  require_size(context, "rho", model.rho.size(), model.pairs());
  model.prob_a = context.attr_floats("prob_a", {});
  model.prob_b = context.attr_floats("prob_b", {});
  if (!model.prob_a.empty()) require_size(context, "prob_a", model.prob_a.size(), model.pairs());
  require_size(context, "prob_b", model.prob_b.size(), static_cast<int64_t>(model.prob_a.size()));
  return model;
}

/// One decision value for each pair of classes, in the order of libsvm.
std::vector<double> pair_scores(const ClassifierModel& model, const float* row, int64_t features) {
  const int64_t count = model.vector_count();
  std::vector<double> kernels(static_cast<size_t>(count));
  for (int64_t v = 0; v < count; ++v)
    kernels[static_cast<size_t>(v)] = model.kernel(row, model.vectors.data() + v * features, features);
  // Row r of the coefficients holds, for the vectors of a class c, their weight against the r-th other class.
  const auto weighted = [&](int64_t coefficient_row, int64_t c) {
    double sum = 0;
    for (int64_t v = model.first_vector[static_cast<size_t>(c)]; v < model.first_vector[static_cast<size_t>(c + 1)];
         ++v)
      sum += static_cast<double>(model.coefficients[static_cast<size_t>(coefficient_row * count + v)]) *
             kernels[static_cast<size_t>(v)];
    return sum;
  };
  std::vector<double> scores;
  for (int64_t i = 0; i < model.classes(); ++i)
    for (int64_t j = i + 1; j < model.classes(); ++j)
      scores.push_back(weighted(j - 1, i) + weighted(i, j) + static_cast<double>(model.rho[scores.size()]));
  return scores;
}

/// Class probabilities from those of pairs: the second method of Wu, Lin and Weng, "Probability estimates for
/// multi-class classification by pairwise coupling", 2004. `pairwise` is classes x classes.
std::vector<double> couple_probabilities(const std::vector<double>& pairwise, size_t classes) {
  const auto at = [classes](size_t i, size_t j) { return i * classes + j; };
  std::vector<double> q(classes * classes, 0.0);
  for (size_t i = 0; i < classes; ++i) {
    for (size_t j = 0; j < classes; ++j) {
      if (i == j) continue;
      q[at(i, i)] += pairwise[at(j, i)] * pairwise[at(j, i)];
      q[at(i, j)] = -pairwise[at(j, i)] * pairwise[at(i, j)];
    }
  }
  std::vector<double> p(classes, 1.0 / static_cast<double>(classes)), qp(classes);
  const double enough = 0.005 / static_cast<double>(classes);
  for (int round = 0; round < 100; ++round) {
    double total = 0, error = 0;
    for (size_t i = 0; i < classes; ++i) {
      qp[i] = 0;
      for (size_t j = 0; j < classes; ++j) qp[i] += q[at(i, j)] * p[j];
      total += p[i] * qp[i];
    }
    for (size_t i = 0; i < classes; ++i) error = std::max(error, std::fabs(qp[i] - total));
    if (error < enough) break;
    for (size_t i = 0; i < classes; ++i) {
      const double step = (total - qp[i]) / q[at(i, i)];
      const double scale = 1 + step;
      p[i] += step;
      total = (total + step * (step * q[at(i, i)] + 2 * qp[i])) / (scale * scale);
      for (size_t j = 0; j < classes; ++j) {
        qp[j] = (qp[j] + step * q[at(i, j)]) / scale;
        p[j] /= scale;
      }
    }
  }
  return p;
}

std::vector<double> class_probabilities(const ClassifierModel& model, const std::vector<double>& pair_score) {
  constexpr double kLeast = 1e-7;
  const auto classes = static_cast<size_t>(model.classes());
  std::vector<double> pairwise(classes * classes, 0.0);
  size_t pair = 0;
  for (size_t i = 0; i < classes; ++i) {
    for (size_t j = i + 1; j < classes; ++j, ++pair) {
      const double z =
          pair_score[pair] * static_cast<double>(model.prob_a[pair]) + static_cast<double>(model.prob_b[pair]);
      const double probability = std::clamp(1 / (1 + std::exp(z)), kLeast, 1 - kLeast);
      pairwise[i * classes + j] = probability;
      pairwise[j * classes + i] = 1 - probability;
    }
  }
  return couple_probabilities(pairwise, classes);
}

/// The class that wins most pairs.
size_t most_votes(const ClassifierModel& model, const std::vector<double>& pair_score) {
  std::vector<int64_t> votes(static_cast<size_t>(model.classes()), 0);
  size_t pair = 0;
  for (size_t i = 0; i < votes.size(); ++i)
    for (size_t j = i + 1; j < votes.size(); ++j, ++pair) ++votes[pair_score[pair] > 0 ? i : j];
  return static_cast<size_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
}

struct Decision {
  size_t label = 0;
  std::vector<double> scores;
};

Decision decide(const ClassifierModel& model, const float* row, int64_t features, PostTransform transform) {
  Decision decision;
  if (model.is_linear()) {
    for (int64_t c = 0; c < model.classes(); ++c)
      decision.scores.push_back(model.kernel(row, model.coefficients.data() + c * features, features) +
                                static_cast<double>(model.rho[0]));
    decision.label =
        static_cast<size_t>(std::max_element(decision.scores.begin(), decision.scores.end()) - decision.scores.begin());
    apply_post_transform(transform, decision.scores);
    return decision;
  }
  const std::vector<double> pairs = pair_scores(model, row, features);
  decision.label = most_votes(model, pairs);
  if (!model.gives_probabilities() && model.classes() == 2) {
    const auto second = transform == PostTransform::none ? SecondClass::negation : SecondClass::complement;
    const auto both = two_scores(pairs[0], second, transform);
    decision.scores.assign(both.begin(), both.end());
    return decision;
  }
  decision.scores = model.gives_probabilities() ? class_probabilities(model, pairs) : pairs;
  apply_post_transform(transform, decision.scores);
  return decision;
}

}  // namespace

void infer_svm_classifier(InferContext& context) {
  const ClassifierModel model = classifier_model(context);
  const Dim rows = inferred_rows(context, 0);
  context.set_output(0, DType::i64, Shape{rows});
  context.set_output(1, DType::f32, Shape{rows, model.score_count()});
}

void run_svm_classifier(KernelContext& context) {
  const ClassifierModel model = classifier_model(context);
  const PostTransform transform = post_transform_of(context);
  const FeatureRows rows = feature_rows(context, 0);
  if (model.is_linear())
    require_count(context, "coefficients", model.coefficients.size(), rows.features, model.classes());
  else
    require_count(context, "support_vectors", model.vectors.size(), rows.features, model.vector_count());
  const Tensor src = convert(context.input(0), DType::f32);
  int64_t* labels = context.output(0).mutable_data<int64_t>();
  float* scores = context.wants_output(1) ? context.output(1).mutable_data<float>() : nullptr;
  const int64_t work = std::max<int64_t>(1, (model.vector_count() + model.classes()) * (rows.features + 1));
  parallel_for(rows.rows, std::max<int64_t>(1, (1 << 14) / work), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const Decision decision = decide(model, src.data<float>() + row * rows.features, rows.features, transform);
      labels[row] = model.labels[decision.label];
      if (scores == nullptr) continue;
      float* out = scores + row * model.score_count();
      for (const double score : decision.scores) *out++ = static_cast<float>(score);
    }
  });
}

void infer_svm_regressor(InferContext& context) {
  context.set_output(0, DType::f32, Shape{inferred_rows(context, 0), 1});
}

void run_svm_regressor(KernelContext& context) {
  const PostTransform transform = post_transform_of(context);
  const bool one_class = context.attr_int("one_class", 0) != 0;
  const int64_t supports = context.attr_int("n_supports", 0);
  const auto& coefficients = context.attr_floats("coefficients");
  const auto& rho = context.attr_floats("rho");
  if (rho.empty()) context.fail("attribute 'rho' is empty");
  const FeatureRows rows = feature_rows(context, 0);
  const auto vectors = context.attr_floats("support_vectors", {});
  KernelFunction kernel;
  if (supports > 0) {
    kernel = kernel_function(context);
    require_size(context, "coefficients", coefficients.size(), supports);
    require_count(context, "support_vectors", vectors.size(), rows.features, supports);
  } else {
    require_size(context, "coefficients", coefficients.size(), rows.features);
  }
  const Tensor src = convert(context.input(0), DType::f32);
  float* dst = context.output(0).mutable_data<float>();
  const int64_t work = std::max<int64_t>(1, std::max<int64_t>(1, supports) * (rows.features + 1));
  parallel_for(rows.rows, std::max<int64_t>(1, (1 << 14) / work), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* features = src.data<float>() + row * rows.features;
      double sum = static_cast<double>(rho[0]);
      for (int64_t v = 0; v < supports; ++v)
        sum += static_cast<double>(coefficients[static_cast<size_t>(v)]) *
               kernel(features, vectors.data() + v * rows.features, rows.features);
      if (supports <= 0) sum += kernel(features, coefficients.data(), rows.features);
      if (one_class) sum = sum > 0 ? 1 : -1;
      apply_post_transform(transform, std::span<double>(&sum, 1));
      dst[row] = static_cast<float>(sum);
    }
  });
}

}  // namespace attune
