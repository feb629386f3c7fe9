#define LANES 16
#define TILE_ROWS 6
#define TILE_VECTORS 4
#define KEY_BLOCK 256
#define GROUP_TILES 4
#include "providers/native/attention_loops_body.h"
#include "providers/native/attention_loops_entry.h"

namespace attune::native {

const AttentionLoops kAttentionAvx512{"avx512", workspace_floats, attend};

}  // namespace attune::native
