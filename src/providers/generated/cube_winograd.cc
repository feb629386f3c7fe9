#include "providers/generated/cube_winograd.h"

#include "base/parallel.h"
#include "codegen/cube/task_grid.h"
#include "providers/generated/config_values.h"

#include <algorithm>

namespace attune::generated {
namespace {

using cube::divide_up;

constexpr int64_t kMostWorkspaceBytes = 256 << 20;

cube::DepthwiseAxis axis_of(const WindowAxis& axis) {
  return {axis.in, axis.out, axis.kernel, axis.stride, axis.dilation, axis.pad_begin};
}

/// F(4,3) loses about three bits, relative to the largest sum. Steps that bound the results make the largest result
/// smaller than that, so they get F(2,3), which loses less than one.
bool keeps_scale(const cube::Epilogue& epilogue) {
  using Kind = EpilogueStep::Kind;
  return std::ranges::none_of(epilogue.steps, [](const EpilogueStep& step) {
    return step.kind == Kind::sigmoid || step.kind == Kind::hard_sigmoid || step.kind == Kind::tanh ||
           step.kind == Kind::clip || step.kind == Kind::sqrt || step.kind == Kind::exp;
  });
}

/// Tiles that pass together: few enough that they stay in half of L2, and equal shares of what a thread has.
int64_t fair_block(int64_t thread_tiles, int64_t tile_bytes, const ProductTarget& target) {
  const int64_t most = std::max<int64_t>(4, target.l2_bytes / 2 / tile_bytes);
  return divide_up(thread_tiles, divide_up(thread_tiles, most));
}

}  // namespace

std::variant<WinogradProblem, Refusal> winograd_problem(const Workload& workload) {
  auto found = product_problem(workload);
  if (const auto* refusal = std::get_if<Refusal>(&found)) return *refusal;
  const auto& product = std::get<ProductProblem>(found);
  if (!product.conv || product.conv->axes.size() != 2)
    return refuse("winograd is for convolutions with two spatial dims");
  const ConvGeometry& geometry = *product.conv;
  for (const WindowAxis& axis : geometry.axes)
    if (axis.kernel != 3 || axis.stride != 1 || axis.dilation != 1)
      return refuse("winograd needs a 3x3 kernel with stride 1 and without dilation");
  if (product.shape.src != DType::f32 || product.shape.dst != DType::f32)
    return refuse("winograd is generated for f32, got {}", dtype_name(product.shape.src));
  constexpr int64_t kVector = 16;
  if (geometry.groups != 1 || geometry.in_channels % kVector != 0 || geometry.out_channels % kVector != 0)
    return refuse("winograd is generated for one group and whole vectors of channels, got {} -> {} in {} groups",
                  geometry.in_channels, geometry.out_channels, geometry.groups);
  WinogradProblem problem;
  problem.shape = {geometry.batch, geometry.in_channels, geometry.out_channels, axis_of(geometry.axes[0]),
                   axis_of(geometry.axes[1])};
  problem.epilogue = product.epilogue;
  problem.mirrored = product.mirrored;
  return problem;
}

std::vector<int> output_tiles(const WinogradProblem& problem) {
  return keeps_scale(problem.epilogue) ? std::vector<int>{4, 2} : std::vector<int>{2};
}

std::vector<Config> winograd_configs(const WinogradProblem& problem, const ProductTarget& target) {
  std::vector<Config> configs;
  if (!target.vectors) return configs;
  const cube::WinogradShape& shape = problem.shape;
  const int64_t lanes = target.isa.lanes;
  const std::vector<std::pair<int, int>> tiles = lanes == 16 ? std::vector<std::pair<int, int>>{{6, 4}, {14, 2}, {8, 3}}
                                                             : std::vector<std::pair<int, int>>{{6, 2}, {4, 3}};
  for (const int output : output_tiles(problem))
    for (const auto& [rows, vectors] : tiles)
      for (const bool by_columns : {false, true}) {
        if (vectors * lanes > shape.out_channels) continue;
        cube::WinogradSchedule schedule;
        schedule.isa = target.isa;
        schedule.output_tile = output;
        const int64_t all = shape.images * cube::winograd_tiles(shape, schedule);
        const int64_t columns = by_columns ? divide_up(shape.out_channels, target.threads) : shape.out_channels;
        const int64_t own = by_columns ? all : divide_up(all, target.threads);
        const int64_t block = fair_block(own, schedule.positions() * 4 * (shape.in_channels + columns), target);
        Config config{{"winograd_output", std::to_string(output)},
                      {"winograd_tile", fmt::format("{}x{}", std::min<int64_t>(rows, block), vectors * lanes)},
                      {"winograd_block", std::to_string(block)},
                      {"winograd_task_tiles", std::to_string(own)},
                      {"winograd_task_columns", std::to_string(columns)}};
        if (std::ranges::find(configs, config) == configs.end()) configs.push_back(std::move(config));
      }
  return configs;
}

cube::WinogradSchedule winograd_schedule(const WinogradProblem& problem, const ProductTarget& target,
                                         const Config& config) {
  cube::WinogradSchedule schedule;
  schedule.isa = target.isa;
  schedule.output_tile = static_cast<int>(number_of(config, "winograd_output", 2));
  const auto allowed = output_tiles(problem);
  if (std::ranges::find(allowed, schedule.output_tile) == allowed.end())
    throw UserError("winograd_output is {}, expected 2, or 4 where no step bounds the results", schedule.output_tile);
  const RegisterTile tile = register_tile(config, "winograd_tile", target.isa.lanes);
  schedule.tile_rows = tile.rows;
  schedule.tile_vectors = tile.vectors;
  schedule.block_tiles = number_of(config, "winograd_block", 1);
  schedule.task_tiles =
      divide_up(number_of(config, "winograd_task_tiles", 1), schedule.block_tiles) * schedule.block_tiles;
  const int64_t panels = divide_up(problem.shape.out_channels, schedule.panel_columns());
  schedule.task_panels =
      std::min(panels, divide_up(number_of(config, "winograd_task_columns", 1), schedule.panel_columns()));
  const int64_t bytes =
      cube::winograd_tasks(problem.shape, schedule) * cube::winograd_task_bytes(problem.shape, schedule);
  if (bytes > kMostWorkspaceBytes) throw UserError("{} bytes of transformed tiles are too many", bytes);
  return schedule;
}

Tensor transform_weights(const WinogradProblem& problem, const cube::WinogradSchedule& schedule,
                         const Tensor& weights) {
  const int64_t ic = problem.shape.in_channels, oc = problem.shape.out_channels, side = schedule.input_tile();
  const auto rows = cube::winograd_matrices(schedule.output_tile).weights;
  const int64_t panel = schedule.panel_columns();
  Tensor packed = Tensor::lasting(DType::f32, {side * side * ic * oc});
  float* to = packed.mutable_data<float>();
  const float* from = weights.data<float>();
  parallel_for(oc, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n)
      for (int64_t c = 0; c < ic; ++c) {
        const float* g = from + (problem.mirrored ? c * oc + n : n * ic + c) * 9;
        const int64_t width = std::min(panel, oc - n / panel * panel);
        for (int64_t i = 0; i < side; ++i)
          for (int64_t j = 0; j < side; ++j) {
            double sum = 0;
            for (size_t p = 0; p < 3; ++p)
              for (size_t q = 0; q < 3; ++q)
                sum += rows[static_cast<size_t>(i)][p] *
                       static_cast<double>(g[problem.mirrored ? 8 - (p * 3 + q) : p * 3 + q]) *
                       rows[static_cast<size_t>(j)][q];
            to[(i * side + j) * ic * oc + n / panel * panel * ic + c * width + n % panel] = static_cast<float>(sum);
          }
      }
  });
  return packed;
}

}  // namespace attune::generated
