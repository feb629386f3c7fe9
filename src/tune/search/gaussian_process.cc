#include "tune/search/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace attune::tune {
namespace {

size_t row_start(size_t row) { return row * (row + 1) / 2; }

}  // namespace

GaussianProcess::GaussianProcess(std::vector<size_t> group) : group_(std::move(group)) {
  // Distances grow with the number of parameters; so does the scale to begin with.
  const double groups = group_.empty() ? 1 : static_cast<double>(*std::ranges::max_element(group_) + 1);
  inverse_scale_.assign(group_.size(), 4 / groups);
}

void GaussianProcess::fit(Rows points, const std::vector<double>& values, double noise) {
  const auto [end, same] = std::ranges::mismatch(points_, points);
  const auto kept = noise == noise_ ? static_cast<size_t>(end - points_.begin()) : 0;
  points_ = std::move(points);
  noise_ = noise;
  const auto count = static_cast<double>(values.size());
  mean_ = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double square = 0;
  for (const double value : values) square += (value - mean_) * (value - mean_);
  deviation_ = std::max(1e-9, std::sqrt(square / count));
  values_.clear();
  for (const double value : values) values_.push_back((value - mean_) / deviation_);
  factorise(kept);
}

void GaussianProcess::choose_scales() {
  double best = factorise();
  const auto attempt = [&](const std::vector<double>& candidate) {
    const std::vector<double> before = std::exchange(inverse_scale_, candidate);
    if (const double likelihood = factorise(); likelihood > best)
      best = likelihood;
    else
      inverse_scale_ = before;
  };
  for (const double factor : {0.1, 0.3, 3.0, 10.0}) {
    std::vector<double> scaled = inverse_scale_;
    for (double& value : scaled) value = std::clamp(value * factor, 1e-3, 1e3);
    attempt(scaled);
  }
  const size_t groups = group_.empty() ? 0 : *std::ranges::max_element(group_) + 1;
  for (size_t group = 0; group < groups; ++group)
    for (const double factor : {0.25, 4.0}) {
      std::vector<double> scaled = inverse_scale_;
      for (size_t i = 0; i < scaled.size(); ++i)
        if (group_[i] == group) scaled[i] = std::clamp(scaled[i] * factor, 1e-3, 1e3);
      attempt(scaled);
    }
  factorise();
}

double GaussianProcess::kernel(const std::vector<double>& a, const std::vector<double>& b) const {
  double square = 0;
  for (size_t i = 0; i < a.size(); ++i) square += (a[i] - b[i]) * (a[i] - b[i]) * inverse_scale_[i];
  const double distance = std::sqrt(5 * square);
  return (1 + distance + distance * distance / 3) * std::exp(-distance);
}

double GaussianProcess::factorise(size_t first) {
  const size_t count = points_.size();
  factor_.resize(row_start(count));
  double log_determinant = 0;
  for (size_t i = 0; i < count; ++i) {
    double* row = factor_.data() + row_start(i);
    for (size_t j = 0; j <= i && i >= first; ++j) {
      const double* other = factor_.data() + row_start(j);
      double sum = kernel(points_[i], points_[j]);
      for (size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
      // The noise keeps the diagonal away from zero, also for points that coincide.
      row[j] = i == j ? std::sqrt(std::max(1e-10, sum + noise_ * noise_)) : sum / other[j];
    }
    log_determinant += std::log(row[i]);
  }
  weighted_ = values_;
  for (size_t i = 0; i < count; ++i) {
    const double* row = factor_.data() + row_start(i);
    for (size_t k = 0; k < i; ++k) weighted_[i] -= row[k] * weighted_[k];
    weighted_[i] /= row[i];
  }
  double fit = 0;
  for (const double value : weighted_) fit += value * value;
  for (size_t i = count; i-- > 0;) {
    const double* row = factor_.data() + row_start(i);
    weighted_[i] /= row[i];
    for (size_t k = 0; k < i; ++k) weighted_[k] -= row[k] * weighted_[i];
  }
  return -0.5 * fit - log_determinant;
}

std::vector<GaussianProcess::Prediction> GaussianProcess::predict(const Rows& points) const {
  // All candidates at once, so that the innermost loop runs over them without a dependency.
  const size_t count = points_.size(), width = points.size();
  std::vector<double> columns(count * width), means(width, 0.0), variances(width, 1.0);
  for (size_t i = 0; i < count; ++i) {
    const double* row = factor_.data() + row_start(i);
    double* column = columns.data() + i * width;
    for (size_t c = 0; c < width; ++c) {
      column[c] = kernel(points[c], points_[i]);
      means[c] += column[c] * weighted_[i];
    }
    for (size_t k = 0; k < i; ++k) {
      const double factor = row[k];
      const double* earlier = columns.data() + k * width;
      for (size_t c = 0; c < width; ++c) column[c] -= factor * earlier[c];
    }
    for (size_t c = 0; c < width; ++c) {
      column[c] /= row[i];
      variances[c] -= column[c] * column[c];
    }
  }
  std::vector<Prediction> result;
  for (size_t c = 0; c < width; ++c)
    result.push_back({mean_ + deviation_ * means[c], deviation_ * std::sqrt(std::max(1e-12, variances[c]))});
  return result;
}

double expected_improvement(const GaussianProcess::Prediction& prediction, double best) {
  constexpr double kMargin = 0.01;  // in standard deviations: what is not worth a trial
  const double z = (best - prediction.mean) / prediction.deviation - kMargin;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  return prediction.deviation * (z * below + density);
}

}  // namespace attune::tune
