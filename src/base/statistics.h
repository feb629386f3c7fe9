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

}  // namespace attune
