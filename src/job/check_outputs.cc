#include "job/check_outputs.h"

#include "tune/measure/tolerance.h"

#include <algorithm>

namespace attune {

OutputCheck check_outputs(const Session& before, const Session& after, std::span<const Tensor> inputs) {
  OutputCheck check;
  const std::vector<Tensor> want = before.run(inputs), got = after.run(inputs);
  for (size_t i = 0; i < want.size(); ++i) {
    const std::string name = before.graph().value(before.graph().outputs[i]).name;
    if (got[i].dtype() != want[i].dtype() || got[i].dims() != want[i].dims()) {
      check.problem = fmt::format("output '{}' is {}[{}] instead of {}[{}]", name, dtype_name(got[i].dtype()),
                                  to_text(got[i].dims()), dtype_name(want[i].dtype()), to_text(want[i].dims()));
      return check;
    }
    const DType dtype = want[i].dtype();
    const bool wide = dtype == DType::f32 || dtype == DType::f64, narrow = dtype == DType::bf16 || dtype == DType::f16;
    const tune::ResultTolerance tolerance{wide ? 1e-3 : narrow ? 1e-2 : 0, 0};
    const tune::Comparison comparison = tune::compare_results(got[i], want[i], tolerance);
    check.max_error = std::max(check.max_error, comparison.max_error);
    check.tolerance = std::max(check.tolerance, tolerance.of_largest);
    if (comparison.difference.empty()) continue;
    check.problem = fmt::format("output '{}' differs: {}", name, comparison.difference);
    return check;
  }
  return check;
}

}  // namespace attune
