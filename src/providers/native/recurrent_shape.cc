#include "providers/native/recurrent_shape.h"

namespace attune::native {

std::variant<RecurrentShape, Refusal> recurrent_shape(const Workload& workload) {
  auto layer = recurrent_layer(workload);
  if (auto* refusal = std::get_if<Refusal>(&layer)) return std::move(*refusal);
  RecurrentShape shape{std::get<RecurrentLayer>(layer)};
  shape.lanes = cell_loops().lanes;
  shape.panels = (shape.hidden + shape.lanes - 1) / shape.lanes;
  constexpr int64_t kMostRows = 8;
  if (shape.gru && !shape.grouped() && shape.batch > kMostRows)
    return refuse(
        "the native GRU of {} units multiplies with a fourth gate of zeros, which pays for up to {} rows, got {}",
        shape.hidden, kMostRows, shape.batch);
  return shape;
}

}  // namespace attune::native
