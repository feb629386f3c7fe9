#include "providers/generated/cube_winograd.h"

#include "base/parallel.h"
#include "codegen/cube/task_grid.h"
#include "providers/generated/channel_maps.h"
#include "providers/generated/config_values.h"

#include <algorithm>

namespace attune::generated {
namespace {

using cube::divide_up;

constexpr int64_t kMostWorkspaceBytes = 256 << 20;

/// The same with channels last, for which products are described.
Workload channels_last(Workload workload, Layout layout) {
  for (auto* specs : {&workload.inputs, &workload.outputs})
    for (auto& spec : *specs)
      if (spec && spec->layout == layout) spec->layout = Layout::nhwc;
  return workload;
}

/// An operand as large as the result, such as a residual, that lies in another way.
bool is_mixed(const Workload& workload, Layout layout) {
  return std::ranges::any_of(workload.inputs, [&](const auto& spec) {
    return spec && !spec->constant && spec->dims == workload.output(0).dims && spec->layout != layout;
  });
}

/// What a convolution waits for: arithmetic, or weights, which no cache keeps from run to run once they are many. A
/// small map has few tiles for each of them; F(2,3) has fewer than half of F(4,3)'s.
double expected_work(const cube::WinogradShape& shape, int output) {
  constexpr double kFlopsPerByte = 8;  // what a core computes while a byte comes from memory, roughly, on any machine
  cube::WinogradSchedule schedule;
  schedule.output_tile = output;
  const auto weights = static_cast<double>(schedule.positions() * shape.in_channels * shape.out_channels);
  const auto tiles = static_cast<double>(shape.images * cube::winograd_tiles(shape, schedule));
  return std::max(2 * tiles * weights, 4 * kFlopsPerByte * weights);
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

/// What one thread does: which tiles and columns, and what both take in memory.
struct Share {
  int64_t tiles = 0, columns = 0;
  int64_t tile_bytes = 0, weight_bytes = 0;  // transformed, of all positions
};

Share share_of(const cube::WinogradShape& shape, const cube::WinogradSchedule& schedule, bool by_columns, int threads) {
  const int64_t all = shape.images * cube::winograd_tiles(shape, schedule);
  Share share;
  share.tiles = by_columns ? all : divide_up(all, threads);
  share.columns = by_columns ? divide_up(shape.out_channels, threads) : shape.out_channels;
  share.tile_bytes = schedule.positions() * 4 * (shape.in_channels + share.columns);
  share.weight_bytes = schedule.positions() * 4 * shape.in_channels * share.columns;
  return share;
}

/// Tiles that pass together: so few that they stay in half of L2, in equal shares; or as many as there is room for,
/// where passing the weights once more for each share moves more than tiles that are written out and read again.
int64_t fair_block(const Share& share, const ProductTarget& target) {
  const int64_t cached = std::max<int64_t>(4, target.l2_bytes / 2 / share.tile_bytes);
  const int64_t room = std::max<int64_t>(4, kMostWorkspaceBytes / 2 / target.threads / share.tile_bytes);
  const bool at_once = (divide_up(share.tiles, cached) - 1) * share.weight_bytes > 2 * share.tiles * share.tile_bytes;
  return divide_up(share.tiles, divide_up(share.tiles, at_once ? room : std::min(cached, room)));
}

int64_t workspace_bytes(const cube::WinogradShape& shape, const cube::WinogradSchedule& schedule) {
  return cube::winograd_tasks(shape, schedule) * cube::winograd_task_bytes(shape, schedule);
}

/// What a config says, whether or not it suits the problem.
cube::WinogradSchedule schedule_of(const cube::WinogradShape& shape, const ProductTarget& target,
                                   const Config& config) {
  cube::WinogradSchedule schedule;
  schedule.isa = target.isa;
  schedule.output_tile = static_cast<int>(number_of(config, "winograd_output", 2));
  const RegisterTile tile = register_tile(config, "winograd_tile", target.isa.lanes);
  schedule.tile_rows = tile.rows;
  schedule.tile_vectors = tile.vectors;
  schedule.block_tiles = number_of(config, "winograd_block", 1);
  schedule.task_tiles =
      divide_up(number_of(config, "winograd_task_tiles", 1), schedule.block_tiles) * schedule.block_tiles;
  const int64_t panels = divide_up(shape.out_channels, schedule.panel_columns());
  schedule.task_panels =
      std::min(panels, divide_up(number_of(config, "winograd_task_columns", 1), schedule.panel_columns()));
  schedule.fetch_next = number_of(config, "winograd_fetch_next", 0) != 0;
  return schedule;
}

/// Rows of a register tile, so that all of them but the last are as high as it, and the last nearly.
int64_t even_rows(int64_t block, int64_t most) { return divide_up(block, divide_up(block, most)); }

/// Threads that share out columns read a part of the weights each, but all of the map.
bool columns_first(const cube::WinogradShape& shape, const cube::WinogradSchedule& schedule) {
  constexpr int64_t kMapsWorth = 8;  // up to 6 both ways took the same time, from 47 on columns were the faster
  const int64_t weights = schedule.positions() * shape.in_channels * shape.out_channels;
  return weights > kMapsWorth * shape.images * shape.down.in * shape.across.in * shape.in_channels;
}

}  // namespace

std::variant<WinogradProblem, Refusal> winograd_problem(const Workload& workload) {
  if (workload.inputs.empty() || workload.outputs.empty() || !workload.inputs[0] || !workload.outputs[0])
    return refuse("winograd is for convolutions");
  const Layout layout = workload.input(0).layout;
  if (layout != workload.output(0).layout)
    return refuse("winograd keeps the layout of its maps, got {} -> {}", to_text(workload.input(0)),
                  to_text(workload.output(0)));
  if (layout != Layout::nhwc && block_channels(layout) == 0)
    return refuse("winograd takes channels last or in blocks, got {}", to_text(workload.input(0)));
  if (is_mixed(workload, layout)) return refuse("winograd takes operands of its epilogue in the layout of its maps");
  auto found = product_problem(channels_last(workload, layout));
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
  cube::WinogradShape& shape = problem.shape;
  shape.images = geometry.batch;
  shape.in_channels = geometry.in_channels;
  shape.out_channels = geometry.out_channels;
  shape.down = filter_axis(geometry.axes[0]);
  shape.across = filter_axis(geometry.axes[1]);
  shape.src_strides = pixel_strides(layout, shape.in_channels, shape.down.in, shape.across.in);
  shape.dst_strides = pixel_strides(layout, shape.out_channels, shape.down.out, shape.across.out);
  problem.epilogue = product.epilogue;
  problem.mirrored = product.mirrored;
  return problem;
}

std::vector<int> output_tiles(const WinogradProblem& problem) {
  if (!keeps_scale(problem.epilogue)) return {2};
  const bool small = expected_work(problem.shape, 2) < expected_work(problem.shape, 4);
  return small ? std::vector<int>{2, 4} : std::vector<int>{4, 2};
}

std::vector<Config> winograd_configs(const WinogradProblem& problem, const ProductTarget& target) {
  std::vector<Config> configs;
  const cube::WinogradShape& shape = problem.shape;
  const int64_t lanes = target.isa.lanes;
  const bool across_blocks = shape.src_strides.block > 0 && shape.src_strides.pixel % lanes != 0;
  if (!target.vectors || across_blocks) return configs;
  const std::vector<std::pair<int, int>> tiles = lanes == 16 ? std::vector<std::pair<int, int>>{{6, 4}, {14, 2}, {8, 3}}
                                                             : std::vector<std::pair<int, int>>{{6, 2}, {4, 3}};
  for (const auto& [rows, vectors] : tiles)
    for (const int output : output_tiles(problem))
      for (const bool second : {false, true}) {
        if (vectors * lanes > shape.out_channels) continue;
        cube::WinogradSchedule schedule;
        schedule.isa = target.isa;
        schedule.output_tile = output;
        const Share share = share_of(shape, schedule, second != columns_first(shape, schedule), target.threads);
        const int64_t block = fair_block(share, target);
        Config config{{"winograd_output", std::to_string(output)},
                      {"winograd_tile", fmt::format("{}x{}", even_rows(block, rows), vectors * lanes)},
                      {"winograd_block", std::to_string(block)},
                      {"winograd_task_tiles", std::to_string(share.tiles)},
                      {"winograd_task_columns", std::to_string(share.columns)},
                      {"winograd_fetch_next", share.weight_bytes > target.l2_bytes ? "1" : "0"}};
        const bool fits = workspace_bytes(shape, schedule_of(shape, target, config)) <= kMostWorkspaceBytes;
        if (fits && std::ranges::find(configs, config) == configs.end()) configs.push_back(std::move(config));
      }
  return configs;
}

cube::WinogradSchedule winograd_schedule(const WinogradProblem& problem, const ProductTarget& target,
                                         const Config& config) {
  const cube::WinogradSchedule schedule = schedule_of(problem.shape, target, config);
  const auto allowed = output_tiles(problem);
  if (std::ranges::find(allowed, schedule.output_tile) == allowed.end())
    throw UserError("winograd_output is {}, expected 2, or 4 where no step bounds the results", schedule.output_tile);
  if (const int64_t bytes = workspace_bytes(problem.shape, schedule); bytes > kMostWorkspaceBytes)
    throw UserError("{} bytes of transformed tiles are too many, at most {} are kept", bytes, kMostWorkspaceBytes);
  return schedule;
}

Tensor transform_weights(const WinogradProblem& problem, const cube::WinogradSchedule& schedule,
                         const Tensor& weights) {
  const int64_t ic = problem.shape.in_channels, oc = problem.shape.out_channels, side = schedule.input_tile();
  const auto rows = cube::winograd_weight_rows(schedule.output_tile);
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
