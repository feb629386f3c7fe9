#include "ops/shuffled_conv.h"

#include "base/checked.h"
#include "base/error.h"
#include "ops/convolution_parts.h"
#include "ops/epilogue.h"
#include "ops/families.h"
#include "ops/infer_parts.h"
#include "ops/node_traits.h"
#include "ops/registry.h"
#include "ops/run_node.h"

#include <numeric>

namespace attune {
namespace {

constexpr const char* kTurn = "turn";
constexpr const char* kSplit = "split";
constexpr size_t kChannelAxis = 1;
constexpr size_t kConvBias = 2;  // of Conv itself
constexpr int kMostOutputs = 2;

/// Channels of each output, of so many in all.
std::vector<int64_t> parts_of(const OpContext& context, int64_t channels) {
  const auto parts = attribute_or<std::vector<int64_t>>(context.node().attributes, kSplit, {channels});
  if (parts.size() != static_cast<size_t>(context.output_count()) || parts.size() > kMostOutputs)
    context.fail("'split' has {} entries for {} outputs, of which there may be two", parts.size(),
                 context.output_count());
  int64_t left = channels;
  for (const int64_t part : parts) {
    if (part < 1 || part > left) context.fail("'split' does not cut {} channels into parts", channels);
    left -= part;
  }
  if (left != 0) context.fail("'split' covers {} of {} channels", channels - left, channels);
  return parts;
}

void infer_shuffled(InferContext& context) {
  if (!context.has_input(kShuffledBeside)) context.fail("the map beside the convolution, input 2, is missing");
  check_operands(context, parse_epilogue(context.node().attributes), kShuffledOperands);
  static_cast<void>(turn_of_convolution(context.node()));
  const ShuffledParts parts = shuffled_parts(context.node(), kNoValue);
  const auto position = [](int i) { return i < static_cast<int>(kShuffledBeside) ? i : i + 1; };
  PartInfer inner(parts.conv, context, position);
  require_op(parts.conv).infer(inner);
  std::optional<Shape> shape = inner.result.shape;
  const ValueType& beside = context.input(kShuffledBeside);
  if (beside.dtype != inner.result.dtype && beside.dtype != DType::undefined && inner.result.dtype != DType::undefined)
    context.fail("the map beside is {}, and the convolution gives {}", dtype_name(beside.dtype),
                 dtype_name(inner.result.dtype));
  if (shape && beside.shape) {
    if (shape->size() != beside.shape->size())
      context.fail("the map beside has {} dims, expected {}", beside.shape->size(), shape->size());
    for (size_t i = 0; i < shape->size(); ++i) (*shape)[i] = merged_dim((*shape)[i], (*beside.shape)[i], context);
  } else if (!shape) {
    shape = beside.shape;
  }
  const bool known = shape && shape->size() > kChannelAxis && (*shape)[kChannelAxis].is_known();
  if (!known) {
    for (int i = 0; i < context.output_count(); ++i) context.set_output(i, inner.result.dtype, std::nullopt);
    return;
  }
  const auto all = checked_mul(2, (*shape)[kChannelAxis].value());
  if (!all) context.fail("twice {} channels are too many", (*shape)[kChannelAxis].value());
  const auto channels = parts_of(context, *all);
  for (int i = 0; i < context.output_count(); ++i) {
    (*shape)[kChannelAxis] = Dim(channels[static_cast<size_t>(i)]);
    context.set_output(i, inner.result.dtype, shape);
  }
}

void shuffled_kernel(KernelContext& context) {
  // Inputs by their position, and one more for what the convolution gives.
  Node numbered = context.node();
  for (size_t i = 0; i < numbered.inputs.size(); ++i)
    if (numbered.inputs[i] != kNoValue) numbered.inputs[i] = static_cast<ValueId>(i);
  const auto middle = static_cast<ValueId>(numbered.inputs.size());
  const ShuffledParts parts = shuffled_parts(numbered, middle);
  Tensor between;
  const auto run = [&](const Node& node) {
    std::vector<const Tensor*> inputs;
    for (const ValueId id : node.inputs)
      inputs.push_back(id == kNoValue ? nullptr : id == middle ? &between : &context.input(id));
    return run_node(node, inputs);
  };
  between = run(parts.conv)[0];
  std::vector<Tensor> results = run(parts.shuffle);
  for (int i = 0; i < context.output_count(); ++i)
    if (context.wants_output(i)) context.set_output(i, std::move(results[static_cast<size_t>(i)]));
}

double shuffled_flops(const CostContext& context) {
  const Dims weights = context.input_dims(kShuffledWeights), beside = context.input_dims(kShuffledBeside);
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, 1.0, [](double a, int64_t b) { return a * static_cast<double>(b); });
  };
  if (weights.empty()) return 0;
  return 2 * product(beside.begin(), beside.end()) * product(weights.begin() + 1, weights.end());
}

const OpDef kOps[] = {
    {.domain = "attune",
     .name = "ShuffledConv",
     .since = 1,
     .inputs = {kShuffledBias, kVariadic},
     .outputs = {1, kMostOutputs},
     .layout_class = LayoutClass::decides_speed,
     .infer = infer_shuffled,
     .kernel = shuffled_kernel,
     .flops = shuffled_flops},
};

}  // namespace

Node shuffled_conv(const Node& conv, const Node& shuffle) {
  const bool first = shuffle.inputs[0] == conv.outputs[0];
  Node fused = conv;
  fused.domain = "attune";
  fused.op = "ShuffledConv";
  fused.version = 1;
  fused.outputs = shuffle.outputs;
  fused.attributes[kTurn] = std::string(first ? "first" : "second");
  if (const auto split = shuffle.attributes.find(kSplit); split != shuffle.attributes.end())
    fused.attributes[kSplit] = split->second;
  if (conv.attributes.count(kEpilogueName) > 0)
    fused.attributes[kEpilogueName] = with_operands_at(conv.attributes, kConvOperands, kShuffledOperands);
  fused.inputs = {conv.inputs[0], conv.inputs[1], shuffle.inputs[first ? 1 : 0], input_or_none(conv, kConvBias)};
  for (size_t i = kConvOperands; i < conv.inputs.size(); ++i) fused.inputs.push_back(conv.inputs[i]);
  if (fused.inputs.back() == kNoValue) fused.inputs.pop_back();
  return fused;
}

Turn turn_of_convolution(const Node& fused) {
  const auto turn = attribute_or<std::string>(fused.attributes, kTurn, "second");
  if (turn != "first" && turn != "second")
    throw UserError("op 'ShuffledConv' (node '{}'): turn is '{}', expected first or second", fused.name, turn);
  return turn == "first" ? Turn::first : Turn::second;
}

ShuffledParts shuffled_parts(const Node& fused, ValueId between) {
  ShuffledParts parts{fused, fused};
  Node& conv = parts.conv;
  conv.inputs.erase(conv.inputs.begin() + kShuffledBeside);
  conv.outputs = {between};
  conv.attributes.erase(kTurn);
  conv.attributes.erase(kSplit);
  if (fused.attributes.count(kEpilogueName) > 0)
    conv.attributes[kEpilogueName] = with_operands_at(fused.attributes, kShuffledOperands, kConvOperands);
  name_convolution(conv);
  Node& shuffle = parts.shuffle;
  shuffle.name = fused.name + " shuffle";
  shuffle.op = "ChannelShuffle";
  shuffle.attributes = {{"groups", int64_t{2}}};
  if (const auto split = fused.attributes.find(kSplit); split != fused.attributes.end())
    shuffle.attributes[kSplit] = split->second;
  const ValueId beside = fused.inputs[kShuffledBeside];
  shuffle.inputs =
      turn_of_convolution(fused) == Turn::first ? std::vector{between, beside} : std::vector{beside, between};
  return parts;
}

std::span<const OpDef> shuffled_conv_ops() { return kOps; }

}  // namespace attune
