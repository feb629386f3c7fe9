#include "providers/generated/cube_product.h"

#include "ops/context.h"

#include <algorithm>
#include <limits>

namespace attune::generated {
namespace {

constexpr int kBias = 2;  // of a convolution; what a Gemm adds

/// The channel (or column) dim of the result: axis 1 of a convolution's, the last of a product's.
size_t channel_axis(const Workload& workload) { return is_conv(workload) ? 1 : workload.output(0).dims.size() - 1; }

std::optional<cube::Reach> reach_of(const Workload& workload, const TensorSpec& operand) {
  const TensorSpec& result = workload.output(0);
  if (element_count(operand.dims) == 1) return cube::Reach::one;
  if (operand.dims == result.dims && operand.layout == result.layout) return cube::Reach::full;
  if (operand.dims.size() > result.dims.size()) return std::nullopt;
  // Aligned at the last dim, all of them 1 but the channels.
  const size_t skipped = result.dims.size() - operand.dims.size();
  for (size_t i = 0; i < operand.dims.size(); ++i)
    if (operand.dims[i] != (i + skipped == channel_axis(workload) ? result.dims[i + skipped] : 1)) return std::nullopt;
  return cube::Reach::row;
}

bool served_type(DType dtype) { return dtype == DType::f32 || dtype == DType::bf16; }

/// One constant matrix that all rows meet.
bool packs_ahead(const Workload& workload) {
  const TensorSpec& weights = workload.input(1);
  return is_matmul(workload) && weights.constant && !weights.dims.empty() &&
         element_count(weights.dims) == (weights.dims.size() == 1 ? 1 : weights.dims.back()) *
                                            (workload.input(0).dims.empty() ? 1 : workload.input(0).dims.back());
}

std::variant<ProductProblem, Refusal> matmul_problem(const Workload& workload) {
  const TensorSpec &a = workload.input(0), &b = workload.input(1), &c = workload.output(0);
  ProductProblem problem;
  if (a.dims.empty() || b.dims.empty()) return refuse("a matrix product of scalars");
  if (a.layout != Layout::plain || c.layout != Layout::plain)
    return refuse("a matrix product takes plain operands, got {}", to_text(a.layout == Layout::plain ? c : a));
  problem.shape.depth = a.dims.back();
  problem.shape.columns = b.dims.size() == 1 ? 1 : b.dims.back();
  if ((a.dims.size() == 1 || b.dims.size() == 1) && workload.inputs.size() > 2)
    return refuse("a fused product with a vector");
  problem.shape.rows = element_count(a.dims) / std::max<int64_t>(problem.shape.depth, 1);
  problem.shape.src_stride = problem.shape.depth;
  problem.shape.dst_stride = problem.shape.columns;
  return problem;
}

/// The convolution that gives the gradient by data of another one with stride 1: each pixel of the data meets the
/// results that it went into, the last tap first.
std::variant<ConvGeometry, Refusal> mirrored_geometry(ConvGeometry geometry) {
  std::swap(geometry.in_channels, geometry.out_channels);
  for (WindowAxis& axis : geometry.axes) {
    if (axis.stride != 1)
      return refuse("a gradient by data is one convolution for stride 1 alone, got {}", axis.stride);
    const int64_t reach = axis.dilation * (axis.kernel - 1);
    if (axis.pad_begin > reach || axis.pad_end > reach)
      return refuse("results that lie in the padding alone have no part in a gradient by data");
    std::swap(axis.in, axis.out);
    axis.pad_begin = reach - axis.pad_begin;
    axis.pad_end = reach - axis.pad_end;
  }
  return geometry;
}

std::variant<ProductProblem, Refusal> conv_problem(const Workload& workload) {
  const TensorSpec &src = workload.input(0), &weights = workload.input(1), &dst = workload.output(0);
  if (src.dims.size() < 3) return refuse("a convolution without spatial dims");
  if (src.layout != Layout::nhwc || dst.layout != Layout::nhwc)
    return refuse("a convolution as a matrix product reads and writes channels last, got {} -> {}", to_text(src),
                  to_text(dst));
  const Node node = workload.node();
  if (is_conv(workload)) return convolution_problem(conv_geometry(OpContext(node), src.dims, weights.dims), src);
  auto mirrored = mirrored_geometry(conv_geometry(OpContext(node), dst.dims, weights.dims));
  if (const auto* refusal = std::get_if<Refusal>(&mirrored)) return *refusal;
  auto result = convolution_problem(std::get<ConvGeometry>(std::move(mirrored)), src);
  if (auto* problem = std::get_if<ProductProblem>(&result)) problem->mirrored = true;
  return result;
}

}  // namespace

bool is_conv(const Workload& workload) {
  return workload.domain.empty() ? workload.op == "Conv" : workload.domain == "attune" && workload.op == "FusedConv";
}
bool is_data_gradient(const Workload& workload) { return workload.domain == "attune" && workload.op == "ConvGradData"; }
bool is_matmul(const Workload& workload) {
  return workload.domain.empty() ? workload.op == "MatMul"
                                 : workload.domain == "attune" && workload.op == "FusedMatMul";
}

std::variant<ProductProblem, Refusal> convolution_problem(ConvGeometry geometry, const TensorSpec& src) {
  if (geometry.groups > 1 && geometry.in_channels < 4)
    return refuse("groups of {} channels are no matrix product worth the name", geometry.in_channels);
  if (element_count(src.dims) > std::numeric_limits<int32_t>::max())
    return refuse("{} has more elements than row positions of 32 bits reach", to_text(src));
  ProductProblem problem;
  problem.shape.rows = geometry.batch * geometry.out_size();
  problem.shape.columns = geometry.out_channels;
  problem.shape.depth = geometry.in_channels;
  problem.shape.taps = geometry.kernel_size();
  problem.shape.groups = geometry.groups;
  problem.shape.dst_stride = geometry.groups * geometry.out_channels;
  problem.shape.src = problem.shape.dst = src.dtype;
  const bool dense = geometry.kernel_size() == 1 && std::ranges::all_of(geometry.axes, [](const WindowAxis& axis) {
                       return axis.in == axis.out && axis.pad_begin == 0;
                     });
  if (dense) problem.shape.src_stride = geometry.groups * geometry.in_channels;
  problem.conv = std::move(geometry);
  return problem;
}

std::variant<cube::Epilogue, Refusal> cube_epilogue(const Workload& workload, int bias) {
  cube::Epilogue epilogue;
  const auto add_operand = [&](int input, cube::Reach reach) {
    if (std::ranges::find(epilogue.operands, input, &cube::Operand::input) == epilogue.operands.end())
      epilogue.operands.push_back({input, reach, workload.input(static_cast<size_t>(input)).dtype});
  };
  if (bias >= 0 && workload.has_input(static_cast<size_t>(bias))) {
    EpilogueStep step;
    step.kind = EpilogueStep::Kind::add;
    step.input = bias;
    epilogue.steps.push_back(step);
    const std::optional<cube::Reach> reach =
        is_conv(workload) ? cube::Reach::row : reach_of(workload, workload.input(static_cast<size_t>(bias)));
    if (!reach)
      return refuse("what is added, {}, spreads over rows", to_text(workload.input(static_cast<size_t>(bias))));
    add_operand(bias, *reach);
  }
  for (const EpilogueStep& step : parse_epilogue(workload.attributes)) {
    epilogue.steps.push_back(step);
    if (!step.is_binary()) continue;
    const TensorSpec& operand = workload.input(static_cast<size_t>(step.input));
    const auto reach = reach_of(workload, operand);
    if (!reach)
      return refuse("operand {} of the epilogue spreads over {} in no way that kernels have", to_text(operand),
                    to_text(workload.output(0)));
    add_operand(step.input, *reach);
  }
  for (const cube::Operand& operand : epilogue.operands)
    if (!served_type(operand.dtype))
      return refuse("an operand of the epilogue is {}; kernels read f32 and bf16", dtype_name(operand.dtype));
  return epilogue;
}

std::variant<ProductProblem, Refusal> product_problem(const Workload& workload) {
  const bool conv = is_conv(workload) || is_data_gradient(workload);
  if (!conv && !is_open_product(workload)) return refuse("operator '{}' is no matrix product", workload.op);
  const TensorSpec &src = workload.input(0), &weights = workload.input(1), &dst = workload.output(0);
  if (!served_type(src.dtype) || src.dtype != weights.dtype || !served_type(dst.dtype))
    return refuse("products are generated for f32 and bf16, got {} and {} -> {}", dtype_name(src.dtype),
                  dtype_name(weights.dtype), dtype_name(dst.dtype));
  if (conv && !weights.constant) return refuse("the filters are not constant, so they cannot be packed ahead");
  if (element_count(src.dims) == 0 || element_count(weights.dims) == 0 || element_count(dst.dims) == 0)
    return refuse("an operand is empty");
  auto result = conv                    ? conv_problem(workload)
                : packs_ahead(workload) ? matmul_problem(workload)
                                        : open_product_problem(workload);
  if (const auto* refusal = std::get_if<Refusal>(&result)) return *refusal;
  auto& problem = std::get<ProductProblem>(result);
  problem.shape.src = src.dtype;
  problem.shape.dst = dst.dtype;
  auto epilogue = cube_epilogue(workload, is_conv(workload) || !is_matmul(workload) ? kBias : -1);
  if (const auto* refusal = std::get_if<Refusal>(&epilogue)) return *refusal;
  const float scale = problem.epilogue.scale;
  problem.epilogue = std::get<cube::Epilogue>(std::move(epilogue));
  problem.epilogue.scale = scale;
  return result;
}

}  // namespace attune::generated
