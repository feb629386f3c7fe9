// Summaries of timing samples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attune {

struct Interval {
  double low = 0, high = 0;
};

struct SampleSummary {
  double median = 0, p5 = 0, p95 = 0, mean = 0, min = 0;
  Interval median_interval;  // 95 % confidence, from order statistics: assumes nothing about the distribution
  int64_t count = 0;
};

/// The samples must not be empty.
SampleSummary summarize_samples(std::span<const double> samples);

/// Linear interpolation between order statistics; `sorted` must not be empty.
double quantile(std::span<const double> sorted, double q);

/// The samples must not be empty; their order does not matter.
double median_of(std::span<const double> samples);

/// The interval of order statistics that covers the median with at least `confidence`, by the binomial distribution:
/// what a sign test at that level does not reject. From the least to the largest where there are too few samples.
Interval sign_test_interval(std::span<const double> samples, double confidence);
/// Probability, under a fair coin, of a split at least as uneven as this one; zeros among the samples are left out by
/// the caller.
double sign_test_p(int64_t below, int64_t above);

struct BootstrapOptions {
  double confidence = 0.95;
  int resamples = 1000;
  uint64_t seed = 1;
};
/// Percentile bootstrap of the median. The same samples and seed give the same interval.
Interval bootstrap_median_interval(std::span<const double> samples, const BootstrapOptions& options = {});

}  // namespace attune
