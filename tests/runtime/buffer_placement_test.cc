// Which buffers of a plan may share memory.
#include "runtime/buffer_placement.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

/// Adds into its second input.
class AddingKernel final : public Kernel {
 public:
  int in_place_input() const override { return 1; }
  void run(const KernelArguments&, int64_t, int64_t) const override {}
};

constexpr SlotId kSource = 0, kOther = 1, kPart = 2, kResult = 3;

/// A step that reads what `inputs` says and adds into the second of them. Both sources are written before.
Plan adding(const std::vector<SlotId>& inputs) {
  Plan plan;
  plan.slots.resize(4);
  for (Slot& slot : plan.slots) slot.bytes = 256;
  plan.slots[kPart].kind = Slot::Kind::view;
  plan.slots[kPart].source = kSource;
  Step write, add, read;
  write.outputs = {kSource, kOther};
  add.kernel = std::make_shared<AddingKernel>();
  add.inputs = inputs;
  add.outputs = {kResult};
  read.inputs = {kResult};
  plan.steps = {write, add, read};
  place_buffers(plan);
  return plan;
}

TEST(BufferPlacement, results_take_the_place_of_what_they_are_added_to) {
  const Plan plan = adding({kOther, kSource});
  EXPECT_EQ(plan.slots[kResult].kind, Slot::Kind::view);
  EXPECT_EQ(plan.slots[kResult].source, kSource);
}

TEST(BufferPlacement, results_leave_alone_what_the_step_reads_otherwise) {
  EXPECT_EQ(adding({kSource, kSource}).slots[kResult].kind, Slot::Kind::arena);
  EXPECT_EQ(adding({kPart, kSource}).slots[kResult].kind, Slot::Kind::arena) << "a view of the same memory";
}

}  // namespace
}  // namespace attune
