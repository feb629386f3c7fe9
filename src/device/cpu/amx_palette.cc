#include "device/cpu/amx_palette.h"

#include <immintrin.h>

namespace attune {

__attribute__((target("amx-tile,amx-bf16,amx-int8"))) void execute_tile_instructions(AmxTypes types) {
  _tile_loadconfig(&kTileConfig);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  if (types.bf16) _tile_dpbf16ps(0, 1, 2);
  if (types.int8) _tile_dpbssd(0, 1, 2);
  _tile_release();
}

}  // namespace attune
