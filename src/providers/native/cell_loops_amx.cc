// AVX-512 for f32, AMX tiles for bf16.
#define LANES 16
#define TILE_ROWS 6
#include "providers/native/cell_loops_body.h"

#include <immintrin.h>

namespace attune::native {
namespace {

// Tiles 0 to 3 hold the sums of the gates, 4 the rows; weights go through 5 to 7.
constexpr int64_t kMostRows = 16, kTileDepth = 32;

/// Tile instructions do not tell the compiler what memory they read and write.
ALWAYS_INLINE void memory_is_as_written() { __asm__ volatile("" ::: "memory"); }

struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

void configure(int64_t rows) {
  TileConfig config;
  for (int tile = 0; tile < 8; ++tile) {
    config.row_bytes[tile] = 64;
    config.rows[tile] = static_cast<uint8_t>(tile < 5 ? rows : kTileDepth / 2);
  }
  memory_is_as_written();
  _tile_loadconfig(&config);
}

/// sums[row] = x[row] * panel over `depth`, which is a multiple of what a tile holds, for the rows that are configured.
void multiply_tiles(const uint16_t* x, int64_t stride, int64_t depth, const uint32_t* panel, float* sums) {
  constexpr int64_t kPitch = kGates * LANES * 4;  // bytes from one pair of depths to the next, and from row to row
  memory_is_as_written();
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t k = 0; k < depth; k += kTileDepth, panel += kTileDepth / 2 * kGates * LANES) {
    _tile_loadd(4, x + k, stride * 2);
    _tile_loadd(5, panel, kPitch);
    _tile_dpbf16ps(0, 4, 5);
    _tile_loadd(6, panel + LANES, kPitch);
    _tile_dpbf16ps(1, 4, 6);
    _tile_loadd(7, panel + 2 * LANES, kPitch);
    _tile_dpbf16ps(2, 4, 7);
    _tile_loadd(5, panel + 3 * LANES, kPitch);
    _tile_dpbf16ps(3, 4, 5);
  }
  _tile_stored(0, sums, kPitch);
  _tile_stored(1, sums + LANES, kPitch);
  _tile_stored(2, sums + 2 * LANES, kPitch);
  _tile_stored(3, sums + 3 * LANES, kPitch);
  memory_is_as_written();
}

/// Calls finish(row, gates) with start(row) + x[row] * panel, for all rows.
template <class Start, class Finish> ALWAYS_INLINE void for_gates(const uint16_t* x, int64_t rows, int64_t depth,
                                                                  const uint32_t* panel, Start&& start_of,
                                                                  Finish&& finish_row) {
  alignas(64) float sums[kMostRows * kGates * LANES];
  const int64_t whole = depth / kTileDepth * kTileDepth;
  int64_t configured = 0;
  for (int64_t first = 0; first < rows; first += kMostRows) {
    const int64_t count = rows - first < kMostRows ? rows - first : kMostRows;
    if (count != configured) configure(configured = count);
    multiply_tiles(x + first * depth, depth, whole, panel, sums);
    for (int64_t i = 0; i < count; ++i) {
      Tile t;
      t.a.start(sums + i * kGates * LANES);
      t.a.add(start_of(first + i));
      accumulate<1>(t, x + (first + i) * depth + whole, depth, depth - whole, panel + whole / 2 * kGates * LANES);
      finish_row(first + i, t.a);
    }
  }
  _tile_release();
}

void project_tiles(const uint16_t* x, int64_t rows, int64_t depth, const uint32_t* panel, const float* from,
                   int64_t from_stride, float* out, int64_t out_stride) {
  for_gates(
      x, rows, depth, panel, [&](int64_t row) { return from + row * from_stride; },
      [&](int64_t row, const Row& gates) { gates.write(out + row * out_stride); });
}

void step_tiles(const uint16_t* h, int64_t rows, int64_t depth, const uint32_t* panel, const float* projected,
                int64_t projected_stride, float* cell, int64_t cell_stride, uint16_t* h_out, int64_t valid) {
  for_gates(
      h, rows, depth, panel, [&](int64_t row) { return projected + row * projected_stride; },
      [&](int64_t row, const Row& gates) {
        LstmCell::finish(gates, cell + row * cell_stride, h_out + row * depth, valid);
      });
}

}  // namespace

const CellLoops kCellsAmx{"amx",
                          LANES,
                          {project, step<LstmCell>, step<GruCell>},
                          {project_tiles, step_tiles, nullptr},
                          {reset_state, gate_fresh, update_state}};

}  // namespace attune::native
