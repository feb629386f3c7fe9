#include "providers/native/attention_loops.h"

#include "codegen/isa.h"

namespace attune::native {

const AttentionLoops& attention_loops() {
#ifdef __x86_64__
  if (usable_isa() >= Isa::avx512) return kAttentionAvx512;
  if (usable_isa() >= Isa::avx2) return kAttentionAvx2;
#endif
  return kAttentionBaseline;
}

}  // namespace attune::native
