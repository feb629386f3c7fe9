// A case of the conformance suite: a workload, and what its inputs may hold. Cases are read from *.cases files; the
// header of case_file.h tells how they are written.
#pragma once

#include "kernel/workload.h"

#include <optional>
#include <string>
#include <vector>

namespace attune::testing {

/// What an input is filled with: the numbers written in the case, or random ones in a range.
struct Contents {
  std::vector<double> values;  // empty: random
  double low = -1, high = 1;   // both included; integers are drawn evenly from what lies between

  /// The range for a dtype of which the case says nothing: floats in [-1, 1], small integers whole, large ones near 0.
  static Contents usual(DType dtype);
};

/// An output whose type the operator's inference tells, where the case does not write one out.
struct OutputCase {
  bool wanted = true;
  bool written = false;  // `spec` is whole; else only its layout counts
  TensorSpec spec;
};

struct WorkloadCase {
  Workload workload;  // without outputs
  std::vector<Contents> contents;
  std::vector<OutputCase> outputs;
};

/// Reads one line such as `Conv@17(f32[1x3x8x8]@nhwc, f32[8x3x3x3]*) -> (?@nhwc) {pads = ints [1, 1, 1, 1]}`. Throws
/// UserError with the column of what is wrong.
WorkloadCase parse_workload_case(const std::string& line);

}  // namespace attune::testing
