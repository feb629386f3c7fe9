#include "providers/generated/cube_strided_gradient.h"

#include "codegen/cube/task_grid.h"
#include "codegen/cube/text.h"
#include "providers/generated/gradient_phases.h"
#include "providers/generated/plain_schedule.h"

#include <algorithm>
#include <cstring>

namespace attune {
namespace {

using namespace generated;

constexpr const char* kEntry = "kernel";
constexpr int kWeights = 1;  // position among the inputs
constexpr size_t kOffered = 3;
constexpr int64_t kZeroRows = 256;  // of a task that writes zeros

std::vector<GradientPhase> require_phases(const Workload& workload) {
  auto phases = gradient_phases(workload);
  if (const auto* refusal = std::get_if<Refusal>(&phases)) throw UserError("{}", refusal->reason);
  return std::get<std::vector<GradientPhase>>(std::move(phases));
}

/// The phase whose schedule decides: that of the most taps.
const ProductProblem& largest(const std::vector<GradientPhase>& phases) {
  const ProductProblem* found = nullptr;
  for (const GradientPhase& phase : phases)
    if (phase.product && (found == nullptr || phase.product->shape.taps > found->shape.taps)) found = &*phase.product;
  if (found == nullptr) throw InternalError("no pixel of a gradient by data meets a tap");
  return *found;
}

/// Schedules that all phases can have.
std::vector<Config> sweep(const std::vector<GradientPhase>& phases) {
  std::vector<Config> configs = plain_sweep(largest(phases), host_target());
  for (Config& config : configs) config["fetch_rows"] = "0";
  return distinct(std::move(configs));
}

/// A phase as a kernel of its own: the text of a function `name`, how many tasks it has and what it has prepared.
struct PhaseKernel {
  std::string text;
  int64_t tasks = 0;
  size_t prepared = 0;
};

PhaseKernel zero_kernel(const GradientPhase& phase, const std::string& name, int64_t row_elements, DType dtype) {
  const auto rows = static_cast<int64_t>(phase.dst_at.size());
  const int64_t bytes = bit_width(dtype) / 8;
  cube::Text text;
  text.open("extern \"C\" void {}({})", name, cube::kEntryParameters);
  text.line("(void)inputs, (void)workspace;");
  text.line("const int* dst_at = (const int*)prepared[0];");
  text.line("const long last = end * {0} < {1} ? end * {0} : {1};", kZeroRows, rows);
  text.line("for (long row = begin * {0}; row < last; ++row)", kZeroRows);
  text.line("  __builtin_memset((char*)outputs[0] + (long)dst_at[row] * {}, 0, {});", bytes, row_elements * bytes);
  text.close();
  return {text.take(), cube::divide_up(rows, kZeroRows), 1};
}

PhaseKernel product_kernel(const ProductProblem& problem, const std::string& name, const Config& config) {
  const cube::VectorSchedule schedule = vector_schedule(problem, host_target(), config);
  return {cube::vector_product_text(name, problem.shape, schedule, problem.epilogue),
          cube::product_tasks(problem.shape, schedule.panel_columns(), schedule.task_rows, schedule.task_panels),
          problem.shape.by_table() ? size_t{3} : size_t{2}};
}

Tensor table_of(const std::vector<int32_t>& places) {
  Tensor table = Tensor::zeros(DType::i32, {std::ssize(places)});
  std::memcpy(table.mutable_bytes(), places.data(), places.size() * sizeof(int32_t));
  return table;
}

std::vector<Tensor> prepare(const std::vector<GradientPhase>& phases, const Config& config, const Tensor& weights) {
  std::vector<Tensor> prepared;
  for (const GradientPhase& phase : phases) {
    if (phase.product) {
      const cube::VectorSchedule schedule = vector_schedule(*phase.product, host_target(), config);
      prepared.push_back(pack_vector_weights(*phase.product, schedule, weights));
      if (phase.product->shape.by_table()) prepared.push_back(row_table(*phase.product, schedule.tile_rows));
    }
    prepared.push_back(table_of(phase.dst_at));
  }
  return prepared;
}

}  // namespace

std::optional<Refusal> CubeStridedGradientGenerator::find_refusal(const Workload& workload) const {
  const auto phases = gradient_phases(workload);
  if (const auto* refusal = std::get_if<Refusal>(&phases)) return *refusal;
  if (sweep(std::get<std::vector<GradientPhase>>(phases)).empty())
    return refuse("gradients by data of {} need instructions that this machine lacks or that are masked",
                  dtype_name(workload.input(0).dtype));
  return std::nullopt;
}

std::vector<Config> CubeStridedGradientGenerator::offered(const Workload& workload) const {
  auto configs = sweep(require_phases(workload));
  configs.resize(std::min(configs.size(), kOffered));
  return configs;
}

void CubeStridedGradientGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  const std::vector<GradientPhase> phases = require_phases(workload);
  declare_plain(largest(phases).shape, sweep(phases), {0}, space);
}

GeneratedKernel CubeStridedGradientGenerator::emit(const Workload& workload, const Config& config) const {
  const std::vector<GradientPhase> phases = require_phases(workload);
  const TensorSpec& dst = workload.output(0);
  cube::Text text, entry;
  entry.open("extern \"C\" void {}({})", kEntry, cube::kEntryParameters);
  int64_t tasks = 0;
  size_t prepared = 0;
  for (size_t i = 0; i < phases.size(); ++i) {
    const std::string name = fmt::format("phase_{}", i);
    const PhaseKernel phase = phases[i].product ? product_kernel(*phases[i].product, name, config)
                                                : zero_kernel(phases[i], name, dst.dims[1], dst.dtype);
    text.paste(fmt::format("namespace of_{} {{\n{}}}\n\n", name, phase.text));
    entry.open("if (begin < {} && end > {})", tasks + phase.tasks, tasks);
    entry.line("const long from = begin > {0} ? begin - {0} : 0, to = end < {1} ? end - {0} : {2};", tasks,
               tasks + phase.tasks, phase.tasks);
    entry.line("of_{0}::{0}(inputs, outputs, prepared + {1}, workspace, from, to);", name, prepared);
    entry.close();
    tasks += phase.tasks;
    prepared += phase.prepared;
  }
  entry.close();
  GeneratedKernel kernel;
  kernel.source = {text.take() + entry.take(), kEntry};
  kernel.task_count = tasks;
  kernel.taken_over = {kWeights};
  kernel.prepare = [phases, config](std::span<const Tensor* const> constants) {
    return prepare(phases, config, *constants[kWeights]);
  };
  return kernel;
}

}  // namespace attune
