#include "providers/generated/recurrent.h"

#include "codegen/isa.h"
#include "codegen/recurrent/layer.h"
#include "codegen/text.h"
#include "providers/generated/recurrent_weights.h"
#include "providers/generated/vector_parameters.h"
#include "providers/recurrent_layer.h"

#include <algorithm>
#include <set>

namespace attune {
namespace {

using codegen::RecurrentCell;
using codegen::RecurrentLayerText;
using codegen::RecurrentPlaces;
using codegen::RecurrentSchedule;
using namespace recurrent;

int64_t vector_registers() { return usable_isa() >= Isa::avx512 ? 32 : 16; }

std::variant<RecurrentLayer, Refusal> find_layer(const Workload& workload) {
  if (!is_recurrent(workload)) return refuse("operator '{}' is no recurrent layer", workload.op);
  return recurrent_layer(workload);
}

RecurrentLayerText layer_of(const Workload& workload) {
  const auto found = find_layer(workload);
  if (const auto* refusal = std::get_if<Refusal>(&found)) throw UserError("{}", refusal->reason);
  const RecurrentLayer& known = std::get<RecurrentLayer>(found);
  const auto position = [&](size_t input) { return workload.has_input(input) ? static_cast<int>(input) : -1; };
  const auto has_output = [&](size_t i) { return i < workload.outputs.size() && workload.outputs[i].has_value(); };
  RecurrentLayerText layer;
  layer.cell = !known.gru          ? RecurrentCell::lstm
               : known.reset_first ? RecurrentCell::gru_reset_first
                                   : RecurrentCell::gru;
  layer.element = workload.input(kX).dtype == DType::f32 ? codegen::Element::f32 : codegen::Element::bf16;
  layer.steps = known.steps, layer.batch = known.batch, layer.inputs = known.inputs;
  layer.hidden = known.hidden, layer.directions = known.directions, layer.reverse = known.reverse;
  layer.initial_h = position(kInitialH);
  layer.initial_c = known.gru ? -1 : position(kInitialC);
  layer.has_y = has_output(kY), layer.has_last_h = has_output(kLastH);
  layer.has_last_c = !known.gru && has_output(kLastC);
  return layer;
}

/// The first of the values that the registers hold.
template <class Registers> int64_t first_that_fits(std::initializer_list<int64_t> values, const Registers& registers) {
  for (const int64_t value : values)
    if (registers(value) <= vector_registers()) return value;
  return 1;
}

constexpr std::initializer_list<int64_t> kRows = {8, 7, 6, 5, 4, 3, 2, 1}, kChains = {4, 2, 1};

/// As many rows as the registers hold, then as many sums of each.
void fill_registers(const RecurrentLayerText& layer, RecurrentSchedule& schedule) {
  schedule.chains = 1;
  schedule.step_rows = first_that_fits(kRows, [&](int64_t rows) {
    RecurrentSchedule tried = schedule;
    tried.step_rows = rows;
    return rows > layer.batch ? vector_registers() + 1 : step_registers(layer, tried);
  });
  schedule.chains = first_that_fits(kChains, [&](int64_t chains) {
    RecurrentSchedule tried = schedule;
    tried.chains = chains;
    return step_registers(layer, tried);
  });
  schedule.project_rows = first_that_fits(kRows, [&](int64_t rows) {
    RecurrentSchedule tried = schedule;
    tried.project_rows = rows;
    return project_registers(layer, tried);
  });
}

/// Threads for each direction where they are computed at a time, and in turn.
int64_t most_threads(const RecurrentLayerText& layer, const RecurrentSchedule& schedule) {
  return most_sharing_threads(schedule.in_turn ? 1 : layer.directions, RecurrentPlaces(layer, schedule).panels());
}

RecurrentSchedule usual_schedule(const RecurrentLayerText& layer) {
  RecurrentSchedule schedule;
  schedule.lanes = static_cast<int>(generated::lane_values().front());
  fill_registers(layer, schedule);
  const int64_t weight_bytes = layer.hidden * layer.hidden * layer.gates() * codegen::element_bytes(layer.element);
  if (sharing_pays(weight_bytes)) schedule.threads = most_threads(layer, schedule);
  return schedule;
}

Config config_of(const RecurrentLayerText& layer, const RecurrentSchedule& schedule) {
  Config config = {
      {"lanes", std::to_string(schedule.lanes)},         {"panel_vectors", std::to_string(schedule.panel_vectors)},
      {"step_rows", std::to_string(schedule.step_rows)}, {"project_rows", std::to_string(schedule.project_rows)},
      {"chains", std::to_string(schedule.chains)},       {"chunk_rows", std::to_string(schedule.chunk_rows)},
      {"threads", std::to_string(schedule.threads)}};
  if (layer.directions > 1) config["directions"] = schedule.in_turn ? "in_turn" : "together";
  return config;
}

RecurrentSchedule schedule_of(const Config& config) {
  const generated::Parameters parameters(config);
  RecurrentSchedule schedule;
  schedule.lanes = static_cast<int>(parameters.number("lanes"));
  schedule.panel_vectors = parameters.number("panel_vectors");
  schedule.step_rows = parameters.number("step_rows");
  schedule.project_rows = parameters.number("project_rows");
  schedule.chains = parameters.number("chains");
  schedule.chunk_rows = parameters.number("chunk_rows");
  schedule.threads = parameters.number("threads");
  schedule.in_turn = parameters.has("directions") && parameters.text("directions") == "in_turn";
  return schedule;
}

}  // namespace

std::optional<Refusal> RecurrentGenerator::find_refusal(const Workload& workload) const {
  const auto layer = find_layer(workload);
  if (const auto* refusal = std::get_if<Refusal>(&layer)) return *refusal;
  return std::nullopt;
}

std::vector<Config> RecurrentGenerator::offered(const Workload& workload) const {
  const RecurrentLayerText layer = layer_of(workload);
  const RecurrentSchedule usual = usual_schedule(layer);
  std::vector<RecurrentSchedule> schedules = {usual};
  RecurrentSchedule other = usual;
  other.chains = 1;
  schedules.push_back(other);
  other = usual;
  other.threads = usual.threads > 1 ? 1 : most_threads(layer, usual);
  schedules.push_back(other);
  if (layer.directions > 1) {
    other = usual;
    other.in_turn = true;
    other.threads = most_threads(layer, other);
    schedules.push_back(other);
  }
  if (layer.hidden > usual.lanes) {
    other = usual;
    other.panel_vectors = 2;
    fill_registers(layer, other);
    other.threads = std::min(other.threads, most_threads(layer, other));
    schedules.push_back(other);
  }
  std::vector<Config> configs;
  for (const RecurrentSchedule& schedule : schedules)
    if (Config config = config_of(layer, schedule); std::ranges::find(configs, config) == configs.end())
      configs.push_back(std::move(config));
  return configs;
}

void RecurrentGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  const RecurrentLayerText layer = layer_of(workload);
  std::set<int64_t> step_rows;
  for (const int64_t rows : kRows) step_rows.insert(std::min(rows, layer.batch));
  std::set<int64_t> thread_counts = {1};
  for (const bool in_turn : {false, true}) {
    RecurrentSchedule narrow;
    narrow.lanes = static_cast<int>(generated::lane_values().back());
    narrow.in_turn = in_turn && layer.directions > 1;
    for (int64_t threads = most_threads(layer, narrow); threads > 1; threads /= 2) thread_counts.insert(threads);
    narrow = usual_schedule(layer);
    narrow.in_turn = in_turn && layer.directions > 1;
    thread_counts.insert(most_threads(layer, narrow));
    narrow.panel_vectors = 2;
    thread_counts.insert(most_threads(layer, narrow));
  }
  const Param lanes = space.ordinal("lanes", generated::lane_values());
  const Param vectors = space.ordinal("panel_vectors", {1, 2});
  const Param rows = space.ordinal("step_rows", {step_rows.begin(), step_rows.end()});
  const Param project_rows = space.ordinal("project_rows", {1, 2, 3, 4, 5, 6, 7, 8});
  const Param chains = space.ordinal("chains", {1, 2, 4});
  space.ordinal("chunk_rows", {24, 48, 96, 192, 384});
  const Param threads = space.ordinal("threads", {thread_counts.begin(), thread_counts.end()});
  space.require(
      {vectors, rows, chains},
      [layer](std::span<const int64_t> v) {
        RecurrentSchedule schedule;
        schedule.panel_vectors = v[0], schedule.step_rows = v[1], schedule.chains = v[2];
        return step_registers(layer, schedule) <= vector_registers();
      },
      "the sums of a step must fit into the registers");
  space.require(
      {vectors, project_rows},
      [layer](std::span<const int64_t> v) {
        RecurrentSchedule schedule;
        schedule.panel_vectors = v[0], schedule.project_rows = v[1];
        return project_registers(layer, schedule) <= vector_registers();
      },
      "the sums of a projection must fit into the registers");
  const auto fits = [layer](int64_t lane_count, int64_t panel_vectors, int64_t thread_count, bool in_turn) {
    RecurrentSchedule schedule;
    schedule.lanes = static_cast<int>(lane_count), schedule.panel_vectors = panel_vectors, schedule.in_turn = in_turn;
    return thread_count <= most_threads(layer, schedule);
  };
  constexpr const char* kWhy = "there are no more threads, and each needs a panel of its own";
  if (layer.directions == 1) {
    space.require(
        {lanes, vectors, threads}, [fits](std::span<const int64_t> v) { return fits(v[0], v[1], v[2], false); }, kWhy);
    return;
  }
  const Param directions = space.categorical("directions", {"together", "in_turn"});
  space.require(
      {lanes, vectors, threads, directions},
      [fits](std::span<const int64_t> v) { return fits(v[0], v[1], v[2], v[3] == 1); }, kWhy);
}

GeneratedKernel RecurrentGenerator::emit(const Workload& workload, const Config& config) const {
  const RecurrentLayerText layer = layer_of(workload);
  const RecurrentSchedule schedule = schedule_of(config);
  GeneratedKernel kernel;
  kernel.source =
      emit_recurrent(layer, schedule, usable_isa(), codegen::header_comment({workload.key(), to_text(config)}));
  kernel.workspace_bytes = kTeamHeaderBytes + layer.directions * RecurrentPlaces(layer, schedule).scratch_floats() *
                                                  static_cast<int64_t>(sizeof(float));
  kernel.team =
      KernelTeam{schedule.in_turn ? 1 : static_cast<int>(layer.directions), static_cast<int>(schedule.threads)};
  for (const size_t i : {kW, kR, kB})
    if (workload.has_input(i)) kernel.taken_over.push_back(static_cast<int>(i));
  kernel.prepare = [layer, schedule](std::span<const Tensor* const> constants) {
    return generated::packed_recurrent_weights(layer, schedule, constants);
  };
  return kernel;
}

}  // namespace attune
