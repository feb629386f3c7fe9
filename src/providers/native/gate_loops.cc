#include "providers/native/gate_loops.h"

#include "codegen/isa.h"

namespace attune::native {

const GateLoops& gate_loops() {
#ifdef __x86_64__
  if (usable_isa() >= Isa::avx512) return kGatesAvx512;
  if (usable_isa() >= Isa::avx2) return kGatesAvx2;
#endif
  return kGatesBaseline;
}

}  // namespace attune::native
