#include "providers/native/lstm_loops.h"

#include "codegen/isa.h"
#include "device/cpu/amx.h"

namespace attune::native {

const LstmLoops& lstm_loops() {
#ifdef __x86_64__
  static const bool has_tiles = usable_isa() >= Isa::amx && request_amx();
  if (has_tiles) return kLstmAmx;
  if (usable_isa() >= Isa::avx512) return kLstmAvx512;
  if (usable_isa() >= Isa::avx2) return kLstmAvx2;
#endif
  return kLstmBaseline;
}

}  // namespace attune::native
