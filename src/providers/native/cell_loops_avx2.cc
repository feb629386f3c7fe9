#define LANES 8
#define TILE_ROWS 2
#include "providers/native/cell_loops_body.h"

namespace attune::native {

const CellLoops kCellsAvx2{"avx2",
                           LANES,
                           {project, step<LstmCell>, step<GruCell>},
                           {nullptr, nullptr, nullptr},
                           {reset_state, gate_fresh, update_state}};

}  // namespace attune::native
