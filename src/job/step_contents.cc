#include "job/step_contents.h"

#include "ops/convert.h"

namespace attune {

std::vector<Contents> step_contents(const Plan& plan, const Step& step) {
  constexpr int64_t kMost = 4096;  // elements
  std::vector<Contents> contents = case_of(step.workload).contents;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (step.inputs[i] == kNoSlot) continue;
    const Slot& slot = plan.slots[static_cast<size_t>(step.inputs[i])];
    if (slot.kind != Slot::Kind::constant || is_float(slot.constant.dtype()) || step.workload.input(i).zero ||
        slot.constant.count() > kMost)
      continue;
    for (int64_t e = 0; e < slot.constant.count(); ++e)
      contents[i].values.push_back(element_as_double(slot.constant, e));
  }
  return contents;
}

}  // namespace attune
