#define LANES 4
#define TILE_ROWS 2
#include "providers/native/cell_loops_body.h"

namespace attune::native {

const CellLoops kCellsBaseline{"baseline",
                               LANES,
                               {project, step<LstmCell>, step<GruCell>},
                               {nullptr, nullptr, nullptr},
                               {reset_state, gate_fresh, update_state}};

}  // namespace attune::native
