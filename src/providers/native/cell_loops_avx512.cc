#define LANES 16
#define TILE_ROWS 6
#include "providers/native/cell_loops_body.h"

namespace attune::native {

const CellLoops kCellsAvx512{"avx512",
                             LANES,
                             {project, step<LstmCell>, step<GruCell>},
                             {nullptr, nullptr, nullptr},
                             {reset_state, gate_fresh, update_state}};

}  // namespace attune::native
