#include "base/statistics.h"

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

}  // namespace attune
