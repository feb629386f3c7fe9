#define LANES 4
#define TILE_ROWS 2
#include "providers/native/lstm_loops_body.h"

namespace attune::native {

const LstmLoops kLstmBaseline{"baseline", LANES, {project, step}, {nullptr, nullptr}};

}  // namespace attune::native
