#define LANES 4
#define TILE_ROWS 4
#define TILE_VECTORS 2
#define KEY_BLOCK 256
#define GROUP_TILES 4
#include "providers/native/attention_loops_body.h"
#include "providers/native/attention_loops_entry.h"

namespace attune::native {

const AttentionLoops kAttentionBaseline{"baseline", workspace_floats, attend};

}  // namespace attune::native
