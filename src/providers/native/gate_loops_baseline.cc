#define LANES 4
#include "providers/native/gate_loops_body.h"

namespace attune::native {

const GateLoops kGatesBaseline{"baseline",   LANES, map_loops<float>(), map_loops<uint16_t>(), dot_rows,
                               combine_rows, apply};

}  // namespace attune::native
