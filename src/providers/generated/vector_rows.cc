#include "providers/generated/vector_rows.h"

#include "codegen/text.h"
#include "codegen/vector/row_kernel.h"
#include "ops/axis_split.h"
#include "ops/context.h"
#include "providers/generated/vector_operands.h"
#include "providers/generated/vector_parameters.h"

#include <algorithm>
#include <bit>

namespace attune {
namespace {

using namespace codegen;
using Kind = RowKernel::Kind;
using Described = std::variant<RowKernel, Refusal>;

bool is_softmax(const Workload& workload) {
  return workload.domain.empty() && (workload.op == "Softmax" || workload.op == "LogSoftmax");
}

Described describe_softmax(const Workload& workload, const OpContext& context, RowKernel kernel) {
  kernel.kind = workload.op == "Softmax" ? Kind::softmax : Kind::log_softmax;
  const Dims& dims = workload.input(0).dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const bool joined = workload.version < 13;  // everything from the axis on is one row
  const int64_t stated = context.attr_int("axis", joined ? 1 : -1);
  const int64_t axis = joined && stated == rank ? stated : context.axis_in_range(stated, rank);
  const AxisSplit split = joined ? split_axes(dims, axis, rank) : split_axis(dims, axis);
  kernel.rows = split.outer;
  kernel.width = split.length;
  kernel.columns = split.inner;
  return kernel;
}

/// A row of scale or shift; refuses other shapes.
std::optional<Refusal> add_row(const Workload& workload, size_t input, int64_t width, std::optional<RowOperand>& row) {
  if (!workload.has_input(input)) return std::nullopt;
  const TensorSpec& spec = workload.input(input);
  const auto element = generated::element_of(spec.dtype);
  if (!element) return refuse("vector kernels compute on f32 and bf16, got {}", to_text(spec));
  if (spec.layout != Layout::plain || element_count(spec.dims) != width)
    return refuse("{} is not one number for each of the {} that are normalised", to_text(spec), width);
  row = RowOperand{*element, static_cast<int>(input)};
  return std::nullopt;
}

Described describe_norm(const Workload& workload, const OpContext& context, RowKernel kernel, Kind kind) {
  kernel.kind = kind;
  const Dims& dims = workload.input(0).dims;
  const auto rank = static_cast<int64_t>(dims.size());
  if (rank == 0) return refuse("a scalar has no row");
  const int64_t axis = context.axis_in_range(context.attr_int("axis", -1), rank);
  const AxisSplit split = split_axes(dims, axis, rank);
  kernel.rows = split.outer;
  kernel.width = split.length;
  kernel.epsilon = context.attr_float("epsilon", 1e-5f);
  if (auto refusal = add_row(workload, 1, kernel.width, kernel.scale)) return *refusal;
  if (kind == Kind::layer_norm)
    if (auto refusal = add_row(workload, 2, kernel.width, kernel.shift)) return *refusal;
  return kernel;
}

/// com.microsoft::SkipLayerNormalization and its simplified kind: the sum of input, skip and a bias is normalised.
Described describe_skip_norm(const Workload& workload, const OpContext& context, RowKernel kernel, Kind kind) {
  kernel.kind = kind;
  const Dims& dims = workload.input(0).dims;
  kernel.width = dims.back();
  kernel.rows = element_count(dims) / kernel.width;
  kernel.epsilon = context.attr_float("epsilon", 1e-12f);
  const TensorSpec& skip = workload.input(1);
  const auto element = generated::element_of(skip.dtype);
  if (!element || skip.layout != Layout::plain || skip.dims != dims)
    return refuse("the skip {} is not a plain tensor of the input's shape", to_text(skip));
  kernel.summands.push_back({*element, 1});
  kernel.full_summands = 2;
  const size_t bias_at = kind == Kind::layer_norm ? 4 : 3;
  std::optional<RowOperand> bias;
  if (auto refusal = add_row(workload, bias_at, kernel.width, bias)) return *refusal;
  if (bias) kernel.summands.push_back(*bias);
  if (auto refusal = add_row(workload, 2, kernel.width, kernel.scale)) return *refusal;
  if (kind == Kind::layer_norm)
    if (auto refusal = add_row(workload, 3, kernel.width, kernel.shift)) return *refusal;
  return kernel;
}

/// Each channel of each image is a row with its own scale and shift.
Described describe_instance_norm(const Workload& workload, const OpContext& context, RowKernel kernel) {
  kernel.kind = Kind::layer_norm;
  const Dims& dims = workload.input(0).dims;
  if (dims.size() < 3) return refuse("{} has no positions to normalise over", to_text(workload.input(0)));
  kernel.rows = dims[0] * dims[1];
  kernel.width = element_count(dims) / kernel.rows;
  kernel.scale_of = RowKernel::ScaleOf::row;
  kernel.period = dims[1];
  kernel.epsilon = context.attr_float("epsilon", 1e-5f);
  if (auto refusal = add_row(workload, 1, dims[1], kernel.scale)) return *refusal;
  if (auto refusal = add_row(workload, 2, dims[1], kernel.shift)) return *refusal;
  return kernel;
}

Described describe(const Workload& workload) {
  const std::string& op = workload.op;
  const bool onnx = workload.domain.empty(), microsoft = workload.domain == "com.microsoft";
  const bool skip_norm = microsoft && (op == "SkipLayerNormalization" || op == "SkipSimplifiedLayerNormalization");
  const bool layer_norm = onnx && op == "LayerNormalization";
  const bool rms_norm = (onnx && (op == "RMSNormalization" || op == "SimplifiedLayerNormalization")) ||
                        (microsoft && op == "SimplifiedLayerNormalization");
  const bool instance_norm = onnx && op == "InstanceNormalization";
  if (!is_softmax(workload) && !skip_norm && !layer_norm && !rms_norm && !instance_norm)
    return refuse("operator '{}' does not work on rows", op);
  if (std::ranges::count_if(workload.outputs, [](const auto& output) { return output.has_value(); }) != 1 ||
      !workload.outputs[0])
    return refuse("a row kernel writes one output, not the statistics");
  const TensorSpec &input = workload.input(0), &output = workload.output(0);
  const auto from = generated::element_of(input.dtype), to = generated::element_of(output.dtype);
  if (!from || !to) return refuse("vector kernels compute on f32 and bf16, got {}", to_text(input));
  if (input.layout != Layout::plain || output.layout != Layout::plain)
    return refuse("rows are contiguous in plain layout, got {}", to_text(input));
  if (element_count(input.dims) == 0) return refuse("there is nothing to compute in an empty tensor");
  RowKernel kernel;
  kernel.summands = {{*from, 0}};
  kernel.output = *to;
  const Node node = workload.node();
  const OpContext context(node);
  if (is_softmax(workload)) return describe_softmax(workload, context, std::move(kernel));
  if (instance_norm) return describe_instance_norm(workload, context, std::move(kernel));
  const Kind kind = layer_norm || op == "SkipLayerNormalization" ? Kind::layer_norm : Kind::rms_norm;
  if (skip_norm) return describe_skip_norm(workload, context, std::move(kernel), kind);
  return describe_norm(workload, context, std::move(kernel), kind);
}

RowKernel require_kernel(const Workload& workload) {
  auto described = describe(workload);
  if (const auto* refusal = std::get_if<Refusal>(&described)) throw UserError("{}", refusal->reason);
  return std::get<RowKernel>(std::move(described));
}

constexpr int64_t kMostAhead = 8;

/// Rows that lie one or two pages ahead: what is asked for then comes in time and is still there.
int64_t rows_ahead(const RowKernel& kernel) {
  constexpr int64_t kFloats = 2048;
  return std::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(kFloats / kernel.width, 1, kMostAhead)));
}

/// Beside plain copying in one program on AMD, beyond the caches: layer normalisation 100 to 104 % of its bandwidth by
/// the second cache and 76 to 88 % by the first, softmax, which reads rows once more, 80 % and 87 to 93 %.
int usual_cache(const RowKernel& kernel) {
  return kernel.kind == Kind::softmax || kernel.kind == Kind::log_softmax ? 1 : 2;
}

}  // namespace

std::optional<Refusal> VectorRowsGenerator::find_refusal(const Workload& workload) const {
  auto described = describe(workload);
  if (auto* refusal = std::get_if<Refusal>(&described)) return std::move(*refusal);
  return std::nullopt;
}

std::vector<Config> VectorRowsGenerator::offered(const Workload& workload) const {
  const RowKernel kernel = require_kernel(workload);
  const Config lanes{{"lanes", std::to_string(widest_lanes(usable_isa()))}};
  if (kernel.columns > 1) return {lanes};
  Config usual = generated::with(lanes, {{"unroll", "4"}, {"task_elements", "8192"}});
  if (can_store_past_cache(kernel, widest_lanes(usable_isa())))
    usual["stores"] = generated::usual_stores(workload.output(0));
  const bool streams = generated::usual_stores(workload.output(0)) == "past_cache";
  usual["ahead"] = std::to_string(streams ? rows_ahead(kernel) : 0);
  usual["ahead_into"] = std::to_string(usual_cache(kernel));
  return {usual, generated::with(usual, {{"unroll", "1"}}), generated::with(usual, {{"unroll", "2"}})};
}

void VectorRowsGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  space.ordinal("lanes", generated::lane_values());
  const RowKernel kernel = require_kernel(workload);
  if (kernel.columns > 1) return;
  if (can_store_past_cache(kernel, widest_lanes(usable_isa()))) space.categorical("stores", generated::kStores);
  space.ordinal("unroll", {1, 2, 4, 8});
  space.power_of_two("task_elements", 1024, 65536);
  space.ordinal("ahead", {0, 1, 2, 4, kMostAhead});
  space.ordinal("ahead_into", {1, 2});
}

GeneratedKernel VectorRowsGenerator::emit(const Workload& workload, const Config& config) const {
  const RowKernel kernel = require_kernel(workload);
  const generated::Parameters parameters(config);
  RowConfig choice;
  choice.lanes = static_cast<int>(parameters.number("lanes"));
  if (kernel.columns == 1) {
    choice.unroll = static_cast<int>(parameters.number("unroll"));
    choice.task_elements = parameters.number("task_elements");
    choice.stores = parameters.stores();
    if (parameters.has("ahead")) choice.ahead = static_cast<int>(parameters.number("ahead"));
    if (parameters.has("ahead_into")) choice.ahead_into = static_cast<int>(parameters.number("ahead_into"));
  }
  GeneratedKernel out;
  out.source = emit_rows(kernel, choice, usable_isa(), header_comment({workload.key(), to_text(config)}));
  out.task_count = row_task_count(kernel, choice);
  // Each element is last read when its place is written.
  if (kernel.summands[0].element == kernel.output && !workload.input(0).constant) out.in_place_input = 0;
  return out;
}

}  // namespace attune
