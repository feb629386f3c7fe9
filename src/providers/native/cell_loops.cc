#include "providers/native/cell_loops.h"

#include "codegen/isa.h"

namespace attune::native {

const CellLoops& cell_loops() {
#ifdef __x86_64__
  if (usable_isa() >= Isa::amx) return kCellsAmx;
  if (usable_isa() >= Isa::avx512) return kCellsAvx512;
  if (usable_isa() >= Isa::avx2) return kCellsAvx2;
#endif
  return kCellsBaseline;
}

}  // namespace attune::native
