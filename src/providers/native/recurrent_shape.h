// What LSTM and GRU layers are made of: their sizes, where their gates go, and what the native kernel refuses.
#pragma once

#include "providers/native/cell_loops.h"
#include "providers/recurrent_layer.h"

#include <algorithm>
#include <array>

namespace attune::native {

using recurrent::kB, recurrent::kInitialC, recurrent::kInitialH, recurrent::kR, recurrent::kW, recurrent::kX;
using recurrent::kLastC, recurrent::kLastH, recurrent::kY;

/// Which of the loops' gates each gate of ONNX's weights goes to.
struct GatePlaces {
  std::array<int64_t, kGates> of_input, of_state;
  size_t gates;  // of the operator
};
inline constexpr GatePlaces kLstmPlaces{{0, 1, 2, 3}, {0, 1, 2, 3}, 4};
inline constexpr GatePlaces kGruPlaces{{0, 1, 2}, {0, 1, 3}, 3};  // what is nobody's place is zero

/// Rows of input that are projected at a time: enough to reuse a panel, few enough to stay in the cache.
inline constexpr int64_t kChunkRows = 96;

struct RecurrentShape : RecurrentLayer {
  int64_t lanes = 0, panels = 0;

  const GatePlaces& places() const { return gru ? kGruPlaces : kLstmPlaces; }

  /// A GRU by groups of units, each gate of a group a panel. Where the reset gate comes first there is no other way;
  /// else where that takes fewer panels than one for each vector of units, whose fourth gate is zero.
  int64_t group_units() const { return kGates * lanes; }
  int64_t groups() const { return (hidden + group_units() - 1) / group_units(); }
  bool grouped() const { return gru && (reset_first || 3 * groups() < panels); }
  int64_t shared_parts() const { return grouped() ? groups() : panels; }  // what threads of a direction share

  int64_t padded() const { return panels * lanes; }
  int64_t gate_row() const { return kGates * padded(); }
  int64_t chunk_steps() const { return std::clamp<int64_t>(kChunkRows / batch, 1, steps); }
};

std::variant<RecurrentShape, Refusal> recurrent_shape(const Workload& workload);

}  // namespace attune::native
