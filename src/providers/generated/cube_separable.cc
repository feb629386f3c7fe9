#include "providers/generated/cube_separable.h"

#include "codegen/cube/separable.h"
#include "codegen/cube/task_grid.h"
#include "ops/fused_separable.h"
#include "providers/generated/config_values.h"
#include "providers/generated/cube_depthwise.h"
#include "providers/generated/cube_schedule.h"

#include <algorithm>
#include <set>

namespace attune {
namespace {

using namespace generated;

constexpr const char* kEntry = "kernel";
constexpr size_t kOffered = 3;
constexpr size_t kConvOperands = 3;                    // of a convolution itself: X, W, B
constexpr int64_t kMostBetween = kMostPackedBytes;     // on the stack
constexpr int64_t kPixelsAcross[] = {4, 6, 7, 8, 14};  // of a tile of the first convolution

/// What a node says, on operands that `spec_of` gives for its inputs.
template <class SpecOf> Workload part_workload(const Node& node, const SpecOf& spec_of, TensorSpec result) {
  Workload workload;
  workload.domain = node.domain;
  workload.op = node.op;
  workload.version = node.version;
  workload.attributes = node.attributes;
  for (const ValueId id : node.inputs)
    workload.inputs.push_back(id == kNoValue ? std::nullopt : std::optional<TensorSpec>(spec_of(id)));
  workload.outputs = {std::move(result)};
  return workload;
}

/// A fused workload taken apart.
struct Parts {
  Node pointwise;
  ValueId between = 0;
  TensorSpec middle;
  Workload depthwise;
};

Parts parts_of(const Workload& workload) {
  const Node node = workload.node();
  Parts parts;
  parts.between = static_cast<ValueId>(workload.inputs.size());
  const SeparableParts nodes = separable_parts(node, parts.between);
  parts.pointwise = nodes.pointwise;
  parts.middle = workload.output(0);
  parts.middle.dims[1] = workload.input(kDepthwiseWeights).dims[0];
  parts.middle.dtype = workload.input(kSeparableMap).dtype;
  parts.depthwise = part_workload(
      nodes.depthwise, [&](ValueId id) { return workload.input(static_cast<size_t>(id)); }, parts.middle);
  return parts;
}

/// The second convolution on so many rows of one image.
Workload band_workload(const Workload& workload, const Parts& parts, int64_t rows) {
  const TensorSpec& whole = workload.output(0);
  const auto cut = [&](TensorSpec spec) {
    spec.dims[0] = 1;
    spec.dims[2] = rows;
    return spec;
  };
  return part_workload(
      parts.pointwise,
      [&](ValueId id) {
        if (id == parts.between) return cut(parts.middle);
        const TensorSpec& operand = workload.input(static_cast<size_t>(id));
        return operand.dims == whole.dims ? cut(operand) : operand;
      },
      cut(whole));
}

struct Problem {
  Parts parts;
  DepthwiseProblem depthwise;
  ProductProblem band;  // of one row; the others differ in the number of rows alone

  const cube::DepthwiseShape& map() const { return depthwise.shape; }
  int64_t rows() const { return map().down.out; }
};

std::variant<Problem, Refusal> problem_of(const Workload& workload) {
  if (workload.domain != "attune" || workload.op != "FusedSeparable")
    return refuse("operator '{}' is no pair of a depthwise and a 1x1 convolution", workload.op);
  if (workload.input(kSeparableMap).layout != Layout::nhwc || workload.output(0).layout != Layout::nhwc)
    return refuse("a pair of convolutions keeps channels last, got {} -> {}", to_text(workload.inputs[0]),
                  to_text(workload.outputs[0]));
  if (!workload.input(kPointwiseWeights).constant)
    return refuse("the weights of the 1x1 convolution are not constant, so they cannot be packed ahead");
  if (workload.output(0).dims.size() != 4)
    return refuse("pairs have two spatial dims, got {}", to_text(workload.outputs[0]));
  Problem problem;
  problem.parts = parts_of(workload);
  auto depthwise = depthwise_problem(problem.parts.depthwise);
  if (const auto* refusal = std::get_if<Refusal>(&depthwise)) return *refusal;
  problem.depthwise = std::get<DepthwiseProblem>(std::move(depthwise));
  auto band = product_problem(band_workload(workload, problem.parts, 1));
  if (const auto* refusal = std::get_if<Refusal>(&band)) return *refusal;
  problem.band = std::get<ProductProblem>(std::move(band));
  if (cube::separable_band_bytes(problem.map(), 1) > kMostBetween)
    return refuse("one row between the convolutions, {} bytes, is more than a task keeps",
                  cube::separable_band_bytes(problem.map(), 1));
  return problem;
}

Problem require_problem(const Workload& workload) {
  auto result = problem_of(workload);
  if (const auto* refusal = std::get_if<Refusal>(&result)) throw UserError("{}", refusal->reason);
  return std::get<Problem>(std::move(result));
}

/// Heights of a band, from one row to what fits.
std::vector<int64_t> heights(const Problem& problem) {
  std::set<int64_t> values;
  for (int64_t part = 1; part <= 64; part *= 2) {
    const int64_t rows = cube::divide_up(problem.rows(), part);
    if (cube::separable_band_bytes(problem.map(), rows) <= kMostBetween) values.insert(rows);
  }
  values.insert(1);
  return {values.begin(), values.end()};
}

std::vector<std::string> tiles(const Problem& problem, const ProductTarget& target) {
  cube::ProductShape shape = problem.band.shape;
  shape.rows *= problem.rows();
  std::vector<std::string> names;
  for (const RegisterTile& tile : register_tiles(shape, target)) {
    std::string name = fmt::format("{}x{}", tile.rows, tile.vectors * target.isa.lanes);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

/// Those that may be good: what lies between takes a part of the second-level cache, and every thread has a band.
std::vector<Config> sweep(const Problem& problem, const ProductTarget& target) {
  std::vector<Config> configs;
  const auto names = tiles(problem, target);
  // Where products have no kernel on vector registers, neither have pairs.
  if (!target.vectors || names.empty() || vector_configs(problem.band, target).empty()) return configs;
  std::vector<int64_t> fitting;
  for (const int64_t rows : heights(problem))
    if (cube::separable_band_bytes(problem.map(), rows) <= target.l2_bytes / 4 &&
        rows <= cube::divide_up(problem.rows(), target.threads))
      fitting.push_back(rows);
  if (fitting.empty()) fitting = {1};
  std::ranges::reverse(fitting);  // the highest first: filters and weights are read once for each band
  for (const int64_t rows : fitting)
    for (const std::string& tile : names)
      configs.push_back({{"band_rows", std::to_string(rows)},
                         {"tile_pixels", std::to_string(std::min<int64_t>(7, problem.map().across.out))},
                         {"tile", tile},
                         {"inner", "rows"}});
  return configs;
}

std::vector<int64_t> pixels_across(const Problem& problem) {
  std::set<int64_t> values;
  for (const int64_t pixels : kPixelsAcross) values.insert(std::min(pixels, problem.map().across.out));
  return {values.begin(), values.end()};
}

/// A product that is one task.
cube::VectorSchedule one_task(const ProductProblem& problem, const ProductTarget& target, const Config& config) {
  return vector_schedule(problem, target,
                         {{"tile", config.at("tile")},
                          {"task_rows", std::to_string(problem.shape.rows)},
                          {"task_columns", std::to_string(problem.shape.columns)},
                          {"inner", config.at("inner")},
                          {"split", "rows"},
                          {"depth_block", "0"},
                          {"unroll", "2"},
                          {"prefetch", "0"},
                          {"fetch_next", "0"}});
}

std::vector<cube::BandOperand> operands_of(const Workload& workload, const Parts& parts) {
  std::vector<cube::BandOperand> operands;
  for (size_t i = kConvOperands - 1; i < parts.pointwise.inputs.size(); ++i) {
    const ValueId id = parts.pointwise.inputs[i];
    if (id == kNoValue) {
      operands.push_back({});
      continue;
    }
    const TensorSpec& spec = workload.input(static_cast<size_t>(id));
    operands.push_back({static_cast<int>(id), spec.dims == workload.output(0).dims, spec.dtype});
  }
  return operands;
}

}  // namespace

std::optional<Refusal> CubeSeparableGenerator::find_refusal(const Workload& workload) const {
  const auto problem = problem_of(workload);
  if (const auto* refusal = std::get_if<Refusal>(&problem)) return *refusal;
  if (sweep(std::get<Problem>(problem), host_target()).empty())
    return refuse("pairs of convolutions need instructions that this machine lacks or that are masked");
  return std::nullopt;
}

std::vector<Config> CubeSeparableGenerator::offered(const Workload& workload) const {
  std::vector<Config> configs = sweep(require_problem(workload), host_target());
  configs.resize(std::min(configs.size(), kOffered));
  return configs;
}

void CubeSeparableGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  const Problem problem = require_problem(workload);
  space.ordinal("band_rows", heights(problem));
  space.ordinal("tile_pixels", pixels_across(problem));
  space.categorical("tile", tiles(problem, host_target()));
  space.categorical("inner", {"rows", "columns"});
}

GeneratedKernel CubeSeparableGenerator::emit(const Workload& workload, const Config& config) const {
  const Problem problem = require_problem(workload);
  const ProductTarget target = host_target();
  const int64_t rows = number_of(config, "band_rows", 1), last = problem.rows() % rows;
  const auto band_of = [&](int64_t height) {
    auto band = product_problem(band_workload(workload, problem.parts, height));
    if (const auto* refusal = std::get_if<Refusal>(&band)) throw UserError("{}", refusal->reason);
    return std::get<ProductProblem>(std::move(band));
  };
  const ProductProblem band = band_of(std::min(rows, problem.rows()));
  cube::SeparableShape shape;
  shape.depthwise = problem.map();
  if (workload.has_input(kDepthwiseBias)) shape.depthwise_bias = static_cast<int>(kDepthwiseBias);
  shape.band = band.shape;
  shape.last_band = last == 0 || rows > problem.rows() ? band.shape : band_of(last).shape;
  shape.operands = operands_of(workload, problem.parts);
  cube::SeparableSchedule schedule;
  schedule.depthwise.isa = target.isa;
  schedule.depthwise.tile_pixels = static_cast<int>(number_of(config, "tile_pixels", 1));
  schedule.depthwise.task_rows = std::min(rows, problem.rows());
  schedule.depthwise.task_blocks = cube::divide_up(problem.map().channels, target.isa.lanes);
  schedule.pointwise = one_task(band, target, config);
  GeneratedKernel kernel;
  kernel.source = {cube::separable_text(kEntry, shape, schedule, problem.depthwise.epilogue, band.epilogue), kEntry};
  kernel.task_count = cube::depthwise_tasks(shape.depthwise, schedule.depthwise);
  kernel.taken_over = {static_cast<int>(kDepthwiseWeights), static_cast<int>(kPointwiseWeights)};
  kernel.prepare = [problem, band, schedule](std::span<const Tensor* const> constants) {
    return std::vector<Tensor>{pack_filters(problem.depthwise, schedule.depthwise, *constants[kDepthwiseWeights]),
                               pack_vector_weights(band, schedule.pointwise, *constants[kPointwiseWeights])};
  };
  return kernel;
}

}  // namespace attune
