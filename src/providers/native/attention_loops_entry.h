// What AttentionLoops holds, of the loops that were included before.
#include "providers/native/attention_loops.h"

namespace attune::native {
namespace {

int64_t workspace_floats(const AttentionBlock& block) {
  return block.element == AttentionElement::f32 ? Scratch<WideProducts<float>>(block).floats
                                                : Scratch<WideProducts<uint16_t>>(block).floats;
}

void attend(const AttentionBlock& block) {
  if (block.element == AttentionElement::f32)
    Attention<float>(block).run();
  else
    Attention<uint16_t>(block).run();
}

}  // namespace
}  // namespace attune::native
