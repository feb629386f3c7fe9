// The inner loops of the kernels for LSTM and GRU, compiled once for each instruction set.
#pragma once

#include <cstdint>

namespace attune::native {

/// Of LSTM, in ONNX's order: input, output, forget, cell. Of GRU: update, reset, and the two parts of the new state, of
/// which the reset gate multiplies the second: that of the input, and that of the old state.
inline constexpr int64_t kGates = 4;

/// What a panel of weights consists of: numbers, or pairs of bf16 that follow each other in the depth, the first in the
/// lower half.
template <class T> struct CellWeights;
template <> struct CellWeights<float> {
  using type = float;
  static constexpr int64_t depth = 1;  // of one element
};
template <> struct CellWeights<uint16_t> {
  using type = uint32_t;
  static constexpr int64_t depth = 2;
};

/// For operands of f32, or of bf16 as its bits (none where the processor does not multiply bf16 faster). A panel is a
/// matrix [depth][4 gates][lanes]: the weights of `lanes` neighbouring units. What is summed up, the projected inputs
/// and the cells are f32 in either case.
template <class T> struct CellSteps {
  using Weights = typename CellWeights<T>::type;

  /// out[row] = start[row] + x[row] * panel, for all rows, of 4 * lanes numbers each.
  void (*project)(const T* x, int64_t rows, int64_t depth, const Weights* panel, const float* start,
                  int64_t start_stride, float* out, int64_t out_stride);

  /// One time step of one panel's units for all rows of a batch: gates = projected[row] + h[row] * panel, then the
  /// cell. `cell`, of a GRU its state, is read and updated; `valid` units are written to `h_out`, the others of the
  /// panel are padding.
  using Step = void (*)(const T* h, int64_t rows, int64_t depth, const Weights* panel, const float* projected,
                        int64_t projected_stride, float* cell, int64_t cell_stride, T* h_out, int64_t valid);
  Step lstm, gru;  // none for bf16: what a GRU remembers would be rounded in every step
};

/// What a GRU does to the sums of 4 * lanes units in one row, where each gate's are a panel of their own.
struct GruLoops {
  /// out = sigmoid(reset) * state, for the first `valid` units.
  void (*reset)(const float* reset, const float* state, float* out, int64_t valid);
  /// fresh = projected + sigmoid(reset) * fresh.
  void (*gate)(const float* reset, const float* projected, float* fresh);
  /// state = between tanh(fresh) and itself, by sigmoid(update); the first `valid` units go to h_out too.
  void (*update)(const float* update, const float* fresh, float* state, float* h_out, int64_t valid);
};

struct CellLoops {
  const char* name;
  int64_t lanes;
  CellSteps<float> f32;
  CellSteps<uint16_t> bf16;
  GruLoops gru;

  template <class T> const CellSteps<T>& steps() const {
    if constexpr (CellWeights<T>::depth == 1)
      return f32;
    else
      return bf16;
  }
};

extern const CellLoops kCellsBaseline;  // any processor of the architecture
#ifdef __x86_64__
extern const CellLoops kCellsAvx2;    // with FMA
extern const CellLoops kCellsAvx512;  // AVX-512F
extern const CellLoops kCellsAmx;     // and tiles of bf16
#endif

/// The best that this machine runs.
const CellLoops& cell_loops();

}  // namespace attune::native
