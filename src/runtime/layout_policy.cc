#include "runtime/layout_policy.h"

#include "device/cpu/cpu_info.h"
#include "kernel/workload_count.h"
#include "ops/registry.h"
#include "runtime/winograd_rule.h"

#include <algorithm>

namespace attune {
namespace {

bool is_convolution(const std::string& op) {
  constexpr std::string_view kOps[] = {"Conv", "FusedConv", "FusedSeparable", "ShuffledConv", "ConvTranspose"};
  return std::ranges::find(kOps, op) != std::end(kOps);
}
bool is_byte_convolution(const std::string& op) { return op == "QLinearConv" || op == "ConvInteger"; }

int64_t vector_floats() {
  if (has_isa(cpu_info(), "avx512f")) return 16;
  return has_isa(cpu_info(), "avx2") ? 8 : 4;
}

bool has_maps(const TensorSpec& spec) { return spec.dims.size() >= 3 && spec.dims.size() <= 5; }

Layout blocked_layout() { return vector_floats() == 16 ? Layout::nchw16c : Layout::nchw8c; }

Layout layout_by_rule(const Graph& graph, const GraphFacts& facts) {
  // A few layers that do not fill their blocks, such as a detector's last, do not decide for all the others.
  constexpr double kMostPaddedShare = 0.05;
  // Direct kernels are at least as quick on channels-last maps, so blocks pay through Winograd alone, which needs them.
  constexpr double kLeastWinogradShare = 0.2;
  const int64_t width = vector_floats();
  if (width < 8) return Layout::plain;
  double all = 0, padded = 0, transformable = 0;  // flops of convolutions
  for (const Node& node : graph.nodes()) {
    if (!is_convolution(node.op) || node.inputs.size() < 2) continue;
    const auto weights = concrete(facts.types[static_cast<size_t>(node.inputs[1])].shape);
    if (!weights || weights->empty()) continue;
    const double flops = std::max(1.0, node_cost(facts, node).flops);
    const auto group = node.attributes.find("group");
    const bool depthwise = group != node.attributes.end() && std::get<int64_t>(group->second) > 1 && (*weights)[1] == 1;
    all += flops;
    if ((*weights)[0] % width != 0 && !depthwise) padded += flops;
    const bool f32 = facts.types[static_cast<size_t>(node.inputs[0])].dtype == DType::f32;  // no others have it
    if (f32 && node.op != "ConvTranspose" && suits_winograd(node, *weights)) transformable += flops;
  }
  if (padded > kMostPaddedShare * all || transformable < kLeastWinogradShare * all) return Layout::nhwc;
  return blocked_layout();
}

}  // namespace

RegionLayouts region_layouts(const Graph& graph, const GraphFacts& facts, LayoutChoice choice) {
  switch (choice) {
    case LayoutChoice::nchw: return {Layout::plain, Layout::plain};
    case LayoutChoice::nhwc: return {Layout::nhwc, Layout::nhwc};
    case LayoutChoice::blocked: return {blocked_layout(), blocked_layout()};
    case LayoutChoice::automatic: break;
  }
  return {layout_by_rule(graph, facts), Layout::nhwc};
}

std::vector<Layout> layout_candidates(const Workload& workload, const RegionLayouts& region, Layout current) {
  std::vector<Layout> candidates;
  const bool maps = !workload.inputs.empty() && workload.inputs[0] && has_maps(workload.input(0));
  if (maps && is_convolution(workload.op)) candidates.push_back(region.floats);
  if (maps && is_byte_convolution(workload.op)) candidates.push_back(region.bytes);
  if (maps && current != Layout::plain) candidates.push_back(current);
  candidates.push_back(Layout::plain);
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  return candidates;
}

Workload with_layout(Workload workload, Layout layout) {
  if (layout == Layout::plain) return workload;
  const size_t rank = workload.output(0).dims.size();
  // The first input and the outputs take the layout; an operand beside them does when it is as large as the output,
  // while one that repeats over the maps reads the same in every layout.
  const auto assign = [&](std::optional<TensorSpec>& spec, bool always) {
    if (!spec || spec->constant || spec->dims.size() != rank || !has_maps(*spec)) return;
    if (always || spec->dims == workload.output(0).dims) spec->layout = layout;
  };
  // An image of few channels is read as it comes: blocks would be mostly padding.
  constexpr int64_t kFewChannels = 4;
  const bool image = is_convolution(workload.op) && layout != Layout::nhwc && workload.input(0).dims.size() == rank &&
                     workload.input(0).dims[1] <= kFewChannels;
  // What joins its inputs has them all of one kind, though they differ in one dim.
  const bool joins = workload.op == "Concat" || workload.op == "ChannelShuffle" || workload.op == "ShuffledConv";
  for (size_t i = image ? 1 : 0; i < workload.inputs.size(); ++i) assign(workload.inputs[i], i == 0 || joins);
  for (auto& spec : workload.outputs) assign(spec, true);
  return workload;
}

bool same_bytes(const TensorSpec& spec, Layout a, Layout b) {
  if (a == b) return true;
  if (spec.dims.size() < 3) return false;
  int64_t pixels = 1;
  for (size_t i = 2; i < spec.dims.size(); ++i) pixels *= spec.dims[i];
  if (pixels != 1 && spec.dims[1] != 1) return false;
  const auto whole = [&](Layout layout) {
    if (layout == Layout::nchw8c) return pixels == 1 && spec.dims[1] % 8 == 0;
    if (layout == Layout::nchw16c) return pixels == 1 && spec.dims[1] % 16 == 0;
    return true;
  };
  return whole(a) && whole(b);
}

}  // namespace attune
