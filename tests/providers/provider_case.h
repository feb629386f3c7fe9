// Runs every configuration that a provider offers for a workload and compares with the reference kernel.
#pragma once

#include "kernel/workload.h"

#include <string_view>
#include <vector>

namespace attune::testing {

inline TensorSpec operand(Dims dims, Layout layout = Layout::plain, DType dtype = DType::f32) {
  return {dtype, std::move(dims), layout, false};
}
inline TensorSpec constant(Dims dims, DType dtype = DType::f32) {
  return {dtype, std::move(dims), Layout::plain, true};
}

/// A workload whose one output has the inferred type, in the given layout.
Workload make_case(std::string_view domain, std::string_view op, int version,
                   std::vector<std::optional<TensorSpec>> inputs, Attributes attributes,
                   Layout output_layout = Layout::plain);

/// Fails the test for every config whose result differs by more than `tolerance` times the largest magnitude, whose
/// padding channels are not zero, or which writes beyond its output. Returns how many configs there were; 0 when the
/// provider refuses.
int check_every_config(std::string_view provider, const Workload& workload, double tolerance = 1e-5);

/// The same with given contents in plain order, for operators that the reference does not have.
struct Example {
  std::vector<Tensor> inputs, outputs;
};
int check_every_config(std::string_view provider, const Workload& workload, const Example& example, double tolerance);

/// Why the provider refuses; empty when it does not.
std::string refusal(std::string_view provider, const Workload& workload);

/// Whether this build has the provider; tests of vendor libraries skip themselves without it.
bool has_provider(std::string_view name);

}  // namespace attune::testing
