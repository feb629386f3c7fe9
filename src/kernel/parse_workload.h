// Workloads as text that can be read back: what a person types, what a case of the conformance suite is, and what goes
// to the process that measures.
//
//   Conv@17(f32[1x64x56x56]@nhwc, f32[64x64x3x3]*) -> (f32[1x64x56x56]@nhwc) {pads = ints [1, 1, 1, 1]}
//   high_performance
//
// Operands are `dtype[dims]@layout`, a star for constants, `*0` for zero points that are 0, `_` for omitted ones, `?`
// for an output whose type inference tells. An input is followed by `= [1, 2]` for given contents or by `in 0..4` for a
// range. Attributes are those of the text form of graphs; keys (Workload::key) leave out their kinds, which are then
// guessed: whole numbers are ints, except where ONNX has a float of that name.
#pragma once

#include "kernel/workload.h"

#include <optional>
#include <string>
#include <vector>

namespace attune {

/// What an input is filled with: the numbers written in the case, or random ones in a range.
struct Contents {
  std::vector<double> values;  // empty: random
  double low = -1, high = 1;   // both included; integers are drawn evenly from what lies between

  bool operator==(const Contents&) const = default;
  /// The range for a dtype of which the case says nothing: floats in [-1, 1], small integers whole, large ones near 0.
  static Contents usual(DType dtype);
};

/// An output whose type the operator's inference tells, where the case does not write one out.
struct OutputCase {
  bool wanted = true;
  bool written = false;  // `spec` is whole; else only its layout counts
  TensorSpec spec;
};

/// A workload, and what its inputs may hold.
struct WorkloadCase {
  Workload workload;  // without outputs
  std::vector<Contents> contents;
  std::vector<OutputCase> outputs;
};

/// Throws UserError with the column of what is wrong.
WorkloadCase parse_workload_case(const std::string& line);
/// A line that writes its outputs out, as a workload.
Workload parse_workload(const std::string& line);

/// The case of a workload with the usual contents.
WorkloadCase case_of(const Workload& workload);
/// A line that reads back as exactly this case.
std::string to_text(const WorkloadCase& what);

}  // namespace attune
