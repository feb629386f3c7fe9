// Operators that move whole slices: Transpose, Concat, Split, Slice, Tile, Expand, Pad and relatives.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> movement_ops() { return {}; }

}  // namespace attune
