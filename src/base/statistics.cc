#include "base/statistics.h"

#include "base/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attune {

double quantile(std::span<const double> sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  return sorted[below] * (1 - weight) + sorted[above] * weight;
}

SampleSummary summarize_samples(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  SampleSummary summary;
  summary.count = static_cast<int64_t>(sorted.size());
  summary.median = quantile(sorted, 0.5);
  summary.p5 = quantile(sorted, 0.05);
  summary.p95 = quantile(sorted, 0.95);
  summary.min = sorted.front();
  summary.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / n;
  // The number of samples below the median is binomial(n, 1/2); its normal approximation gives the ranks.
  const double half_width = 1.96 * std::sqrt(n) / 2;
  const auto rank = [&](double position) { return sorted[static_cast<size_t>(std::clamp(position, 0.0, n - 1))]; };
  summary.median_interval = {rank(std::floor(n / 2 - half_width)), rank(std::ceil(n / 2 + half_width))};
  return summary;
}

double median_of(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile(sorted, 0.5);
}

Interval sign_test_interval(std::span<const double> samples, double confidence) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<int64_t>(sorted.size());
  // The largest rank whose tail P(X < rank), X binomial(n, 1/2), stays within half of what may be missed.
  double term = std::exp2(-static_cast<double>(n)), tail = 0;
  int64_t rank = 0;
  while (2 * rank < n - 1 && tail + term <= (1 - confidence) / 2) {
    tail += term;
    term *= static_cast<double>(n - rank) / static_cast<double>(rank + 1);
    ++rank;
  }
  rank = std::max<int64_t>(rank - 1, 0);
  return {sorted[static_cast<size_t>(rank)], sorted[static_cast<size_t>(n - 1 - rank)]};
}

double sign_test_p(int64_t below, int64_t above) {
  const int64_t n = below + above, fewer = std::min(below, above);
  double term = std::exp2(-static_cast<double>(n)), tail = 0;
  for (int64_t k = 0; k <= fewer; ++k) {
    tail += term;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return std::min(1.0, 2 * tail);
}

Interval bootstrap_median_interval(std::span<const double> samples, const BootstrapOptions& options) {
  Random random(options.seed);
  const auto n = static_cast<int64_t>(samples.size());
  std::vector<double> medians, drawn(samples.size());
  for (int i = 0; i < options.resamples; ++i) {
    for (double& value : drawn) value = samples[static_cast<size_t>(random.below(n))];
    medians.push_back(median_of(drawn));
  }
  std::sort(medians.begin(), medians.end());
  const double outside = (1 - options.confidence) / 2;
  return {quantile(medians, outside), quantile(medians, 1 - outside)};
}

}  // namespace attune
