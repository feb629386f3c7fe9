#include "providers/generated/cube_shuffled.h"

#include "ops/shuffled_conv.h"
#include "providers/generated/plain_schedule.h"

#include <algorithm>
#include <set>

namespace attune {
namespace {

using namespace generated;

constexpr const char* kEntry = "kernel";
constexpr size_t kOffered = 3;

/// The convolution alone, whose result is like the map beside.
Workload convolution_of(const Workload& workload, const Node& conv) {
  Workload alone;
  alone.domain = conv.domain;
  alone.op = conv.op;
  alone.version = conv.version;
  alone.attributes = conv.attributes;
  alone.mode = workload.mode;
  for (const ValueId id : conv.inputs)
    alone.inputs.push_back(id == kNoValue ? std::nullopt : workload.inputs[static_cast<size_t>(id)]);
  alone.outputs = {workload.input(kShuffledBeside)};
  return alone;
}

/// Bias and operands of the convolution's epilogue lie one further among the fused operator's inputs.
void count_the_map_beside(cube::Epilogue& epilogue) {
  const auto move = [](int& input) {
    if (input >= static_cast<int>(kShuffledBeside)) ++input;
  };
  for (cube::Operand& operand : epilogue.operands) move(operand.input);
  for (EpilogueStep& step : epilogue.steps)
    if (step.is_binary()) move(step.input);
}

std::variant<ProductProblem, Refusal> problem_of(const Workload& workload) {
  if (workload.domain != "attune" || workload.op != "ShuffledConv")
    return refuse("operator '{}' is no convolution with a shuffle", workload.op);
  if (!workload.outputs.front() || !workload.outputs.back())
    return refuse("a convolution that shuffles writes all of its results, and one is not wanted");
  const TensorSpec &map = workload.input(kShuffledMap), &beside = workload.input(kShuffledBeside);
  for (const auto* spec : {&map, &beside, &workload.output(0), &workload.outputs.back().value()})
    if (spec->layout != Layout::nhwc)
      return refuse("a convolution that shuffles keeps channels last, got {}", to_text(*spec));
  const Node node = workload.node();
  const ShuffledParts parts = shuffled_parts(node, static_cast<ValueId>(workload.inputs.size()));
  auto found = product_problem(convolution_of(workload, parts.conv));
  if (const auto* refusal = std::get_if<Refusal>(&found)) return *refusal;
  auto& problem = std::get<ProductProblem>(found);
  if (problem.shape.groups != 1)
    return refuse("a convolution that shuffles has one group, got {}", problem.shape.groups);
  // Where tiles multiply bf16, a convolution of its own and a shuffle behind it are the faster ones.
  if (problem.shape.src == DType::bf16 && host_target().amx)
    return refuse("convolutions of bf16 run on tiles here, which do not shuffle");
  count_the_map_beside(problem.epilogue);
  problem.shape.shuffle = cube::ResultShuffle{.input = static_cast<int>(kShuffledBeside),
                                              .own = turn_of_convolution(node),
                                              .first_part = workload.output(0).dims[1]};
  return found;
}

ProductProblem require_problem(const Workload& workload) {
  auto result = problem_of(workload);
  if (const auto* refusal = std::get_if<Refusal>(&result)) throw UserError("{}", refusal->reason);
  return std::get<ProductProblem>(std::move(result));
}

std::vector<Config> sweep(const ProductProblem& problem) { return plain_sweep(problem, host_target()); }

}  // namespace

std::optional<Refusal> CubeShuffledGenerator::find_refusal(const Workload& workload) const {
  const auto problem = problem_of(workload);
  if (const auto* refusal = std::get_if<Refusal>(&problem)) return *refusal;
  if (sweep(std::get<ProductProblem>(problem)).empty())
    return refuse("convolutions of {} that shuffle need instructions that this machine lacks or that are masked",
                  dtype_name(workload.input(kShuffledMap).dtype));
  return std::nullopt;
}

std::vector<Config> CubeShuffledGenerator::offered(const Workload& workload) const {
  auto configs = sweep(require_problem(workload));
  configs.resize(std::min(configs.size(), kOffered));
  return configs;
}

void CubeShuffledGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  const ProductProblem problem = require_problem(workload);
  declare_plain(problem.shape, sweep(problem), can_fetch_rows(problem) ? std::set<int64_t>{0, 1} : std::set<int64_t>{0},
                space);
}

GeneratedKernel CubeShuffledGenerator::emit(const Workload& workload, const Config& config) const {
  const ProductProblem problem = require_problem(workload);
  const cube::VectorSchedule schedule = vector_schedule(problem, host_target(), config);
  GeneratedKernel kernel;
  kernel.source = {cube::vector_product_text(kEntry, problem.shape, schedule, problem.epilogue), kEntry};
  kernel.task_count =
      cube::product_tasks(problem.shape, schedule.panel_columns(), schedule.task_rows, schedule.task_panels);
  kernel.taken_over = {static_cast<int>(kShuffledWeights)};
  kernel.prepare = [problem, schedule](std::span<const Tensor* const> constants) {
    std::vector<Tensor> prepared{pack_vector_weights(problem, schedule, *constants[kShuffledWeights])};
    if (problem.shape.by_table()) prepared.push_back(row_table(problem, schedule.tile_rows));
    return prepared;
  };
  return kernel;
}

}  // namespace attune
