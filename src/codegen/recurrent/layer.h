// Text of kernels that compute a whole LSTM or GRU layer: both directions at a time, each by one thread or by several
// that share its units and meet after every step.
#pragma once

#include "codegen/source.h"
#include "codegen/vector/vector_text.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace attune::codegen {

enum class RecurrentCell {
  lstm,
  gru,              // the reset gate is applied to the product with the old state
  gru_reset_first,  // or to the old state before it, so that a step has two halves
};

/// Positions of operands are those of ONNX; what is omitted is not read or written.
struct RecurrentLayerText {
  RecurrentCell cell = RecurrentCell::lstm;
  Element element = Element::f32;  // of all operands; what is summed up and remembered is f32
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 0;
  bool reverse = false;                // the first direction
  int initial_h = -1, initial_c = -1;  // among the inputs
  bool has_y = false, has_last_h = false, has_last_c = false;

  int64_t gates() const { return cell == RecurrentCell::lstm ? 4 : 3; }
};

struct RecurrentSchedule {
  int lanes = 16;
  int64_t panel_vectors = 1;  // vectors of units whose gates are computed together: a panel of weights
  int64_t step_rows = 1;      // most rows of the batch that pass a panel together in a step
  int64_t project_rows = 6;   // rows of the input that pass one together before
  int64_t chains = 1;         // independent sums of a step, so that few rows need not wait for each other's sums
  int64_t chunk_rows = 96;    // rows of the input that are projected at a time
  int64_t threads = 1;        // of each direction
  bool in_turn = false;       // one direction after the other, by the threads of one
};

/// Where units and gates lie in packed weights and in what is computed with them.
class RecurrentPlaces {
 public:
  RecurrentPlaces(const RecurrentLayerText& layer, const RecurrentSchedule& schedule)
      : layer_(layer), schedule_(schedule) {}

  int64_t panel_units() const { return schedule_.panel_vectors * schedule_.lanes; }
  int64_t panels() const { return (layer_.hidden + panel_units() - 1) / panel_units(); }
  int64_t units() const { return panels() * panel_units(); }  // with those that fill the last panel
  int64_t gate_row() const { return units() * layer_.gates(); }

  // The new state of `gru_reset_first` is a product of its own, by groups of panels.
  static constexpr int64_t kGroupPanels = 3;
  int64_t groups() const { return (panels() + kGroupPanels - 1) / kGroupPanels; }
  int64_t group_panels(int64_t group) const { return std::min(kGroupPanels, panels() - group * kGroupPanels); }

  /// Panels of the groups that there are.
  std::set<int64_t> group_sizes() const { return {group_panels(0), group_panels(groups() - 1)}; }

  // Of the input's rows that are projected at a time.
  int64_t chunk_steps() const { return std::clamp<int64_t>(schedule_.chunk_rows / layer_.batch, 1, layer_.steps); }
  int64_t chunk_rows() const { return chunk_steps() * layer_.batch; }
  /// What whole tiles of a projection leave of a chunk and of the last one.
  std::set<int64_t> rest_rows() const;

  /// How many tiles of which height the batch falls into in a step: of about the same, since each passes over all
  /// weights.
  struct Heights {
    int64_t rows, count;
  };
  std::vector<Heights> heights() const;

  /// Gates of a panel that are summed up together in a step.
  int64_t step_gates() const { return layer_.cell == RecurrentCell::gru_reset_first ? 2 : layer_.gates(); }

  // Floats of a direction's scratch memory, in this order.
  int64_t projected() const { return whole_lines(chunk_steps() * layer_.batch * gate_row()); }
  int64_t state() const { return whole_lines(layer_.batch * units()); }
  /// Two states in turn; cells of an LSTM; update gates and reset states of `gru_reset_first`.
  int64_t states() const { return layer_.cell == RecurrentCell::lstm ? 3 : layer_.cell == RecurrentCell::gru ? 2 : 4; }
  int64_t scratch_floats() const { return projected() + states() * state(); }

 private:
  static int64_t whole_lines(int64_t floats) { return (floats + 15) / 16 * 16; }

  const RecurrentLayerText& layer_;
  const RecurrentSchedule& schedule_;
};

/// Registers that the sums of a step or a projection need, with what they are multiplied with.
int64_t step_registers(const RecurrentLayerText& layer, const RecurrentSchedule& schedule);
int64_t project_registers(const RecurrentLayerText& layer, const RecurrentSchedule& schedule);

/// Of a kernel that a team of `directions` times `threads` runs (`threads` where directions take turns). Prepared are:
///   0  weights of the input  [directions][panels][inputs][gates][panel_units]
///   1  of the old state      [directions][panels][hidden][step_gates][panel_units]
///   2  what is added         [directions][panels][gates][panel_units]
///   3  of `gru`              what is added to the new state's part of the old one, [directions][units]
///      of `gru_reset_first`  weights of the new state, [directions] of groups [hidden][group_panels][panel_units]
/// with padding units zero.
GeneratedSource emit_recurrent(const RecurrentLayerText& layer, const RecurrentSchedule& schedule, Isa isa,
                               const std::string& header);

}  // namespace attune::codegen
