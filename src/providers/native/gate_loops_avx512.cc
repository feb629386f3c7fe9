#define LANES 16
#include "providers/native/gate_loops_body.h"

namespace attune::native {

const GateLoops kGatesAvx512{"avx512", LANES, map_loops<float>(), map_loops<uint16_t>(), dot_rows, combine_rows, apply};

}  // namespace attune::native
