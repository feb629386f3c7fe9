#include "job/check_outputs.h"

#include "tune/measure/tolerance.h"

namespace attune {

std::optional<std::string> check_outputs(const Session& before, const Session& after, std::span<const Tensor> inputs) {
  const std::vector<Tensor> want = before.run(inputs), got = after.run(inputs);
  for (size_t i = 0; i < want.size(); ++i) {
    const std::string name = before.graph().value(before.graph().outputs[i]).name;
    if (got[i].dtype() != want[i].dtype() || got[i].dims() != want[i].dims())
      return fmt::format("output '{}' is {}[{}] instead of {}[{}]", name, dtype_name(got[i].dtype()),
                         to_text(got[i].dims()), dtype_name(want[i].dtype()), to_text(want[i].dims()));
    const DType dtype = want[i].dtype();
    const bool wide = dtype == DType::f32 || dtype == DType::f64, narrow = dtype == DType::bf16 || dtype == DType::f16;
    const tune::ResultTolerance tolerance{wide ? 1e-3 : narrow ? 1e-2 : 0, 0};
    const std::string difference = tune::compare_results(got[i], want[i], tolerance).difference;
    if (!difference.empty()) return fmt::format("output '{}' differs: {}", name, difference);
  }
  return std::nullopt;
}

}  // namespace attune
