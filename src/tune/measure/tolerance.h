// How far a kernel's result may be from the reference's.
#pragma once

#include "kernel/workload.h"

#include <string>

namespace attune::tune {

struct ResultTolerance {
  double of_largest = 0;  // times the largest magnitude of the expected output
  double absolute = 0;
};

/// By element types and by K, the number of terms that one output element sums (flops / 2 / elements):
///
/// - what only moves data (no flops): exact; integers: exact, but ±1 where scales requantise (…QLinear…, …Quantize…)
/// - f32: max(1e-5, 2^-24 √K): a sum of K terms in any order, with room for another exp or tanh
/// - bf16, f16 anywhere among the operands: f32's and u (2 + steps), u = 2^-8 or 2^-11: the result is rounded once, the
///   reference rounds after each step of an epilogue as well
/// - f64: 1e-12
/// - logarithms of sums: as much absolutely as well, which is what the sum's rounding becomes
ResultTolerance result_tolerance(const Workload& workload, size_t output);

/// How a result compares with the reference's.
struct Comparison {
  std::string difference;  // the first element that is out of tolerance: "element 17 of 40: got 3, want 2 (…)"
  double max_error = 0;  // as a share of the largest magnitude of the reference; infinite for a NaN that should be none
};
Comparison compare_results(const Tensor& got, const Tensor& want, const ResultTolerance& tolerance);

/// Flops of a workload; 0: it only moves data.
double count_flops(const Workload& workload);

}  // namespace attune::tune
