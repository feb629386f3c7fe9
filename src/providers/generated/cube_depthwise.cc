#include "providers/generated/cube_depthwise.h"

#include "codegen/cube/task_grid.h"
#include "ops/context.h"
#include "ops/conv_shape.h"
#include "providers/generated/channel_maps.h"
#include "providers/generated/config_values.h"

#include <algorithm>

namespace attune::generated {
namespace {

constexpr int kBias = 2;
constexpr int64_t kLongestFilter = 49;  // taps whose text is still readable

}  // namespace

std::variant<DepthwiseProblem, Refusal> depthwise_problem(const Workload& workload) {
  if (!is_conv(workload)) return refuse("operator '{}' is no convolution", workload.op);
  const TensorSpec &src = workload.input(0), &weights = workload.input(1), &dst = workload.output(0);
  if (src.dims.size() != 4) return refuse("depthwise kernels have two spatial dims, got {}", to_text(src));
  for (const TensorSpec* spec : {&src, &weights, &dst})
    if (spec->dtype != DType::f32 && spec->dtype != DType::bf16)
      return refuse("depthwise kernels are generated for f32 and bf16, got {}", to_text(*spec));
  if (element_count(src.dims) == 0 || element_count(weights.dims) == 0 || element_count(dst.dims) == 0)
    return refuse("an operand is empty");
  const Node node = workload.node();
  const ConvGeometry geometry = conv_geometry(OpContext(node), src.dims, weights.dims);
  if (geometry.in_channels != 1 || geometry.out_channels != 1)
    return refuse("depthwise means one input and one output channel in a group, got {} and {}", geometry.in_channels,
                  geometry.out_channels);
  if (!weights.constant) return refuse("the filters are not constant, so they cannot be packed ahead");
  if (geometry.kernel_size() > kLongestFilter)
    return refuse("a filter of {} taps is written out only up to {}", geometry.kernel_size(), kLongestFilter);
  if (src.layout != dst.layout || (src.layout != Layout::nhwc && src.layout != Layout::nchw16c))
    return refuse("depthwise kernels keep channels last or in blocks of 16, got {} -> {}", to_text(src), to_text(dst));
  DepthwiseProblem problem;
  cube::DepthwiseShape& shape = problem.shape;
  shape.images = geometry.batch;
  shape.channels = geometry.groups;
  shape.down = filter_axis(geometry.axes[0]);
  shape.across = filter_axis(geometry.axes[1]);
  shape.padded_channels = src.layout == Layout::nchw16c;
  shape.src_strides = pixel_strides(src.layout, shape.channels, shape.down.in, shape.across.in);
  shape.dst_strides = pixel_strides(dst.layout, shape.channels, shape.down.out, shape.across.out);
  shape.src = src.dtype;
  shape.dst = dst.dtype;
  auto epilogue = cube_epilogue(workload, kBias);
  if (const auto* refusal = std::get_if<Refusal>(&epilogue)) return *refusal;
  problem.epilogue = std::get<cube::Epilogue>(std::move(epilogue));
  return problem;
}

std::vector<Config> depthwise_configs(const DepthwiseProblem& problem, const ProductTarget& target) {
  const cube::DepthwiseShape& shape = problem.shape;
  const int64_t blocks = cube::divide_up(shape.channels, target.isa.lanes), threads = target.threads;
  // Rows come first: a 1x1 convolution before shares out pixels, so each thread finds its rows in its own cache.
  // Sharing out channels is as quick alone, and 2.5 times slower inside of a model, where half of each pixel lies in
  // the cache of the other core.
  const int64_t some_rows = cube::divide_up(shape.down.out, threads), some_blocks = cube::divide_up(blocks, threads);
  const bool by_images = shape.images % threads == 0;
  const bool by_blocks = blocks % threads == 0 || blocks > 4 * threads;
  // A band is passed once for each block of channels, so that it should stay near while that happens.
  const int64_t row_bytes = shape.across.in * shape.channels * (bit_width(shape.src) / 8) * shape.down.stride;
  const int64_t bands = cube::divide_up(some_rows * row_bytes, std::max<int64_t>(target.l2_bytes / 8, 1));
  const int64_t near_rows = cube::divide_up(some_rows, std::clamp<int64_t>(bands, 1, some_rows));
  std::vector<Config> configs;
  if (!target.vectors || (shape.padded_channels && target.isa.lanes != block_channels(Layout::nchw16c))) return configs;
  const auto add = [&](int64_t pixels, int64_t rows, int64_t of_blocks) {
    Config config{{"tile_pixels", std::to_string(std::min(pixels, shape.across.out))},
                  {"band_rows", std::to_string(rows)},
                  {"band_channels", std::to_string(of_blocks * target.isa.lanes)}};
    if (std::ranges::find(configs, config) == configs.end()) configs.push_back(std::move(config));
  };
  for (const int64_t pixels : {7, 4, 6, 8, 14}) {
    add(pixels, near_rows, blocks);
    if (by_images) add(pixels, shape.down.out, blocks);
    add(pixels, some_rows, blocks);
    if (by_blocks) add(pixels, shape.down.out, some_blocks);
    // Few rows at a time, all channels of them: what a large image needs to be read as a stream.
    add(pixels, cube::divide_up(some_rows, 4), blocks);
    add(pixels, 2, blocks);
  }
  return configs;
}

cube::DepthwiseSchedule depthwise_schedule(const ProductTarget& target, const Config& config) {
  cube::DepthwiseSchedule schedule;
  schedule.isa = target.isa;
  schedule.tile_pixels = static_cast<int>(number_of(config, "tile_pixels", 1));
  schedule.task_rows = number_of(config, "band_rows", 1);
  schedule.task_blocks = cube::divide_up(number_of(config, "band_channels", 1), target.isa.lanes);
  return schedule;
}

Tensor pack_filters(const DepthwiseProblem& problem, const cube::DepthwiseSchedule& schedule, const Tensor& weights) {
  const int64_t lanes = schedule.isa.lanes, taps = problem.shape.down.kernel * problem.shape.across.kernel;
  const int64_t blocks = cube::divide_up(problem.shape.channels, lanes);
  Tensor packed = Tensor::zeros(DType::f32, {blocks * taps * lanes});
  float* to = packed.mutable_data<float>();
  for (int64_t c = 0; c < problem.shape.channels; ++c)
    for (int64_t t = 0; t < taps; ++t)
      to[(c / lanes * taps + t) * lanes + c % lanes] = weights.dtype() == DType::f32
                                                           ? weights.data<float>()[c * taps + t]
                                                           : static_cast<float>(weights.data<BFloat16>()[c * taps + t]);
  return packed;
}

}  // namespace attune::generated
