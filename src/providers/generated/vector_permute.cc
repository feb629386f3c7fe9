#include "providers/generated/vector_permute.h"

#include "codegen/text.h"
#include "codegen/vector/permute_kernel.h"
#include "kernel/reorder.h"
#include "ops/context.h"
#include "providers/generated/vector_operands.h"
#include "providers/generated/vector_parameters.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace attune {
namespace {

using namespace codegen;

std::vector<int64_t> plain_strides(const Dims& dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

std::variant<LoopNest, Refusal> transpose_nest(const Workload& workload) {
  const TensorSpec &input = workload.input(0), &output = workload.output(0);
  if (input.layout != Layout::plain || output.layout != Layout::plain)
    return refuse("a transpose goes from plain to plain layout, got {}", to_text(input));
  const Node node = workload.node();
  std::vector<int64_t> backwards(input.dims.size());
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  const auto order = OpContext(node).attr_ints("perm", backwards);
  const auto from = plain_strides(input.dims), to = plain_strides(output.dims);
  LoopNest nest;
  for (size_t i = 0; i < order.size(); ++i)
    nest.loops.push_back({output.dims.at(i), {from.at(static_cast<size_t>(order[i])), to[i]}});
  if (nest.loops.empty()) nest.loops.push_back({1, {1, 1}});  // a scalar
  return nest;
}

/// Channels seen as [groups][each] become [each][groups].
std::variant<LoopNest, Refusal> shuffle_nest(const Workload& workload) {
  const TensorSpec &input = workload.input(0), &output = workload.output(0);
  const bool plain = input.layout == Layout::plain && output.layout == Layout::plain;
  const bool channels_last = input.layout == Layout::nhwc && output.layout == Layout::nhwc;
  if (!plain && !channels_last) return refuse("a shuffle keeps plain or nhwc layout, got {}", to_text(input));
  const Node node = workload.node();
  const int64_t channels = input.dims.at(1), groups = OpContext(node).attr_int("groups"), each = channels / groups;
  const int64_t positions = element_count(input.dims) / (input.dims[0] * channels);
  const int64_t channel = plain ? positions : 1, position = plain ? 1 : channels;
  LoopNest nest;
  nest.loops = {{input.dims[0], {channels * positions, channels * positions}},
                {positions, {position, position}},
                {each, {channel, channel * groups}},
                {groups, {channel * each, channel}}};
  return nest;
}

std::variant<PermuteKernel, Refusal> describe(const Workload& workload) {
  const bool transpose = workload.domain.empty() && workload.op == "Transpose";
  const bool shuffle = workload.domain == "attune" && workload.op == "ChannelShuffle";
  if (!transpose && !shuffle && !is_reorder(workload))
    return refuse("operator '{}' does more than move elements", workload.op);
  if (workload.outputs.size() != 1 || (shuffle && workload.inputs.size() != 1))
    return refuse("elements are moved from one tensor to one, got {} inputs and {} outputs", workload.inputs.size(),
                  workload.outputs.size());
  const TensorSpec &input = workload.input(0), &output = workload.output(0);
  const int bits = bit_width(input.dtype);
  if (input.dtype != output.dtype) return refuse("moving {} to {} is a conversion", to_text(input), to_text(output));
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return refuse("elements of {} bits are not moved one by one", bits);
  if (element_count(input.dims) == 0) return refuse("there is nothing to move in an empty tensor");
  // Not one conditional expression: of variants GCC 12 takes that for a use of something uninitialised.
  const auto find_nest = [&] {
    if (transpose) return transpose_nest(workload);
    if (shuffle) return shuffle_nest(workload);
    return generated::make_nest({{input, input.dims}}, output);
  };
  auto nest = find_nest();
  if (const auto* refusal = std::get_if<Refusal>(&nest)) return *refusal;
  return PermuteKernel{simplify(std::get<LoopNest>(std::move(nest)), 1), bits / 8, 0};
}

/// Large tensors have many tasks anyway, and several strips in one share lines and pages.
int64_t usual_task(const TensorSpec& output) {
  constexpr int64_t kTasks = 64, kSmallest = 16384, kLargest = 1 << 20;
  const auto share = static_cast<uint64_t>(element_count(output.dims) / kTasks);
  return std::clamp(static_cast<int64_t>(std::bit_floor(share)), kSmallest, kLargest);
}

/// Strips that read whole pages between them.
int64_t page_strips(const PermuteKernel& kernel, int tile) {
  constexpr int64_t kPageBytes = 4096;
  return kPageBytes / (tile * kernel.element_bytes);
}

PermuteKernel require_kernel(const Workload& workload) {
  auto described = describe(workload);
  if (const auto* refusal = std::get_if<Refusal>(&described)) throw UserError("{}", refusal->reason);
  return std::get<PermuteKernel>(std::move(described));
}

}  // namespace

std::optional<Refusal> VectorPermuteGenerator::find_refusal(const Workload& workload) const {
  auto described = describe(workload);
  if (auto* refusal = std::get_if<Refusal>(&described)) return std::move(*refusal);
  return std::nullopt;
}

std::vector<Config> VectorPermuteGenerator::offered(const Workload& workload) const {
  const PermuteKernel kernel = require_kernel(workload);
  std::vector<Config> configs;
  for (const int tile : tile_choices(kernel, usable_isa())) {
    Config config{{"tile", std::to_string(tile)}, {"task_elements", std::to_string(usual_task(workload.output(0)))}};
    if (tile > 1) {
      const bool streams = generated::usual_stores(workload.output(0)) == "past_cache";
      config["strips"] = std::to_string(streams ? page_strips(kernel, tile) : 0);
      config["block"] = streams ? "32" : "256";
      config["ahead"] = streams && can_ask_ahead(kernel, tile, page_strips(kernel, tile)) ? "1" : "0";
    }
    if (can_store_past_cache(kernel, tile)) config["stores"] = generated::usual_stores(workload.output(0));
    configs.push_back(std::move(config));
  }
  return configs;
}

void VectorPermuteGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  const PermuteKernel kernel = require_kernel(workload);
  const auto tiles = tile_choices(kernel, usable_isa());
  const Param tile = space.ordinal("tile", {tiles.begin(), tiles.end()});
  space.power_of_two("task_elements", 1024, 1 << 20);
  if (tiles.front() > 1) {
    const Param strips = space.ordinal("strips", {0, 4, 16, 32, 64, 128, 256, 512});
    space.power_of_two("block", 16, 1024);
    const Param ahead = space.ordinal("ahead", {0, 1});
    space.require(
        {tile, strips, ahead},
        [kernel](std::span<const int64_t> v) {
          return v[2] == 0 || can_ask_ahead(kernel, static_cast<int>(v[0]), v[1]);
        },
        "rows are asked for ahead in whole groups of lines");
  }
  for (const int side : tiles)  // of one side at most a tile's row is a line
    if (can_store_past_cache(kernel, side))
      space.only_if(space.categorical("stores", generated::kStores), tile == side);
}

GeneratedKernel VectorPermuteGenerator::emit(const Workload& workload, const Config& config) const {
  const PermuteKernel kernel = require_kernel(workload);
  const generated::Parameters parameters(config);
  PermuteConfig choice;
  choice.tile = static_cast<int>(parameters.number("tile"));
  choice.task_elements = parameters.number("task_elements");
  choice.stores = parameters.stores();
  if (parameters.has("strips")) choice.strips = parameters.number("strips");
  if (parameters.has("block")) choice.block = parameters.number("block");
  if (parameters.has("ahead")) choice.ahead = parameters.number("ahead") != 0;
  if (choice.ahead && !can_ask_ahead(kernel, choice.tile, choice.strips))
    throw UserError("ahead=1 needs strips that make up whole groups of lines, got {} of {} elements", choice.strips,
                    choice.tile);
  GeneratedKernel out;
  out.source = emit_permute(kernel, choice, header_comment({workload.key(), to_text(config)}));
  out.task_count = permute_task_count(kernel, choice);
  return out;
}

}  // namespace attune
