#include "job/check_outputs.h"

#include "tune/measure/tolerance.h"

#include <algorithm>

namespace attune {
namespace {

bool is_narrow(DType dtype) { return dtype == DType::bf16 || dtype == DType::f16; }

}  // namespace

OutputCheck check_outputs(const Session& before, const Session& after, std::span<const Tensor> inputs) {
  OutputCheck check;
  // What was rounded to 16 bits on the way is no closer than that in the end.
  const bool rounds = std::ranges::any_of(before.graph().values(), is_narrow, &Value::dtype);
  const std::vector<Tensor> want = before.run(inputs), got = after.run(inputs);
  for (size_t i = 0; i < want.size(); ++i) {
    const std::string name = before.graph().value(before.graph().outputs[i]).name;
    if (got[i].dtype() != want[i].dtype() || got[i].dims() != want[i].dims()) {
      check.problem = fmt::format("output '{}' is {}[{}] instead of {}[{}]", name, dtype_name(got[i].dtype()),
                                  to_text(got[i].dims()), dtype_name(want[i].dtype()), to_text(want[i].dims()));
      return check;
    }
    const DType dtype = want[i].dtype();
    const tune::ResultTolerance tolerance{!is_float(dtype) ? 0 : rounds || is_narrow(dtype) ? 1e-2 : 1e-3, 0};
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
