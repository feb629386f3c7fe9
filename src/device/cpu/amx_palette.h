// Palette 1 of AMX, written down instead of read from CPUID leaf 0x1D, which some virtual machines hide: eight tiles of
// 16 rows of 64 bytes.
#pragma once

#include "device/cpu/amx.h"

#include <cstdint>

namespace attune {

struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

/// A constant and not a local variable: GCC 12 believes that _tile_loadconfig reads eight bytes and drops the others.
inline constexpr TileConfig kTileConfig;

/// Configures, zeroes and multiplies tiles. Dies of SIGILL where that does not work.
void execute_tile_instructions(AmxTypes types);

}  // namespace attune
