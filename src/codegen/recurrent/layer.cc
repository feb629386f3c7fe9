#include "codegen/recurrent/layer.h"

namespace attune::codegen {

std::set<int64_t> RecurrentPlaces::rest_rows() const {
  std::set<int64_t> rests;
  for (const int64_t steps : {chunk_steps(), layer_.steps % chunk_steps()})
    if (const int64_t rest = steps * layer_.batch % schedule_.project_rows; rest > 0) rests.insert(rest);
  return rests;
}

std::vector<RecurrentPlaces::Heights> RecurrentPlaces::heights() const {
  const int64_t tiles = (layer_.batch + schedule_.step_rows - 1) / schedule_.step_rows;
  const int64_t low = layer_.batch / tiles, high = layer_.batch % tiles;
  std::vector<Heights> result;
  if (high > 0) result.push_back({low + 1, high});
  result.push_back({low, tiles - high});
  return result;
}

int64_t step_registers(const RecurrentLayerText& layer, const RecurrentSchedule& schedule) {
  const RecurrentPlaces places(layer, schedule);
  const int64_t rows = std::min(schedule.step_rows, layer.batch);
  const int64_t gates = layer.cell == RecurrentCell::gru_reset_first ? places.group_panels(0) : layer.gates();
  return rows * std::max(gates, places.step_gates()) * schedule.panel_vectors * schedule.chains + rows + 1;
}

int64_t project_registers(const RecurrentLayerText& layer, const RecurrentSchedule& schedule) {
  return schedule.project_rows * layer.gates() * schedule.panel_vectors + schedule.project_rows + 1;
}

}  // namespace attune::codegen
