#define LANES 16
#define TILE_ROWS 6
#include "providers/native/lstm_loops_body.h"

namespace attune::native {

const LstmLoops kLstmAvx512{"avx512", LANES, {project, step}, {nullptr, nullptr}};

}  // namespace attune::native
