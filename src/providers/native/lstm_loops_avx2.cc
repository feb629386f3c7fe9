#define LANES 8
#define TILE_ROWS 2
#include "providers/native/lstm_loops_body.h"

namespace attune::native {

const LstmLoops kLstmAvx2{"avx2", LANES, {project, step}, {nullptr, nullptr}};

}  // namespace attune::native
