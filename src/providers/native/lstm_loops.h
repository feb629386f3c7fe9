// The inner loops of the LSTM kernel, compiled once for each instruction set.
#pragma once

#include <cstdint>

namespace attune::native {

inline constexpr int64_t kGates = 4;  // in ONNX's order: input, output, forget, cell

/// A panel is a matrix [depth][4 gates][lanes]: the weights of `lanes` neighbouring units.
struct LstmLoops {
  const char* name;
  int64_t lanes;

  /// out[row] = bias + x[row] * panel, for all rows. `bias` and each row of `out` hold 4 * lanes numbers.
  void (*project)(const float* x, int64_t rows, int64_t depth, const float* panel, const float* bias, float* out,
                  int64_t out_stride);

  /// One time step of one panel's units for all rows of a batch: gates = projected[row] + h[row] * panel, then the
  /// cell. `cell` is read and updated; `valid` units are written to `h_out`, the others of the panel are padding.
  void (*step)(const float* h, int64_t rows, int64_t depth, const float* panel, const float* projected,
               int64_t projected_stride, float* cell, int64_t cell_stride, float* h_out, int64_t valid);
};

extern const LstmLoops kLstmBaseline;  // any processor of the architecture
#ifdef __x86_64__
extern const LstmLoops kLstmAvx2;    // with FMA
extern const LstmLoops kLstmAvx512;  // AVX-512F
#endif

/// The widest that this machine runs.
const LstmLoops& lstm_loops();

}  // namespace attune::native
