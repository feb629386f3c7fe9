#include "providers/native/lstm_loops.h"

#include "device/cpu/cpu_info.h"

namespace attune::native {

const LstmLoops& lstm_loops() {
#ifdef __x86_64__
  const CpuInfo& info = cpu_info();
  if (has_isa(info, "avx512f")) return kLstmAvx512;
  if (has_isa(info, "avx2") && has_isa(info, "fma")) return kLstmAvx2;
#endif
  return kLstmBaseline;
}

}  // namespace attune::native
