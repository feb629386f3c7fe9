#include "runtime/plan_views.h"

#include "ops/convert.h"
#include "ops/node_traits.h"
#include "runtime/contiguous_part.h"
#include "runtime/cut.h"

#include <algorithm>
#include <numeric>

namespace attune {
namespace {

/// A view of `source` for a value, `offset` bytes into it.
void place_view(PlanBuilder& plan, ValueId id, const TensorSpec& spec, SlotId source, int64_t offset) {
  Slot view;
  view.kind = Slot::Kind::view;
  view.name = plan.graph().value(id).name;
  view.source = source;
  view.source_offset = offset;
  view.spec = spec;
  view.bytes = storage_bytes(spec).value_or(0);
  const Layout layout = spec.layout;
  plan.place(id, layout, plan.new_slot(std::move(view)));
}

TensorSpec in_layout(TensorSpec spec, Layout layout) {
  spec.layout = layout;
  return spec;
}

/// The axis of a Concat or Gather.
size_t axis_of(const Node& node, size_t rank) {
  const int64_t axis = attribute_or<int64_t>(node.attributes, "axis", 0);
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

/// Axes from the outermost to the innermost as a layout without blocks has them.
std::vector<int64_t> axis_order(Layout layout, size_t rank) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (layout == Layout::nhwc && rank > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

bool is_blocked(Layout layout) { return layout != Layout::plain && layout != Layout::nhwc; }

/// Whether what a Transpose makes, in layout `to`, is element by element what it reads in layout `from`. Axes of one
/// element lie anywhere.
bool keeps_order(const Node& node, const Workload& workload, Layout from, Layout to) {
  if (!node.domain.empty() || node.op != "Transpose" || is_blocked(from) || is_blocked(to)) return false;
  const Dims& dims = workload.input(0).dims;
  const auto perm = attribute_or<std::vector<int64_t>>(node.attributes, "perm", {});
  if (perm.size() != dims.size()) return false;  // the default turns all axes round
  const auto source = axis_order(from, dims.size());
  auto next = source.begin();
  for (const int64_t axis : axis_order(to, dims.size())) {
    const int64_t read = perm[static_cast<size_t>(axis)];
    if (dims[static_cast<size_t>(read)] == 1) continue;
    next = std::find(next, source.end(), read);
    if (next == source.end()) return false;
  }
  return true;
}

/// The storage of a value when it is the value's alone to place; kNoSlot otherwise.
SlotId own_storage(PlanBuilder& plan, ValueId id, Layout layout) {
  const SlotId lies = plan.get(id, layout), storage = plan.storage(lies);
  const bool whole = plan.slot(storage).bytes == plan.slot(lies).bytes;
  return plan.slot(storage).kind == Slot::Kind::arena && whole ? storage : kNoSlot;
}

}  // namespace

bool keeps_elements(const Node& node, const Workload& workload) {
  return keeps_order(node, workload, Layout::plain, Layout::plain);
}

bool add_transposed_view(PlanBuilder& plan, const Node& node, const Workload& workload, Layout wanted) {
  const auto home = node.domain.empty() && node.op == "Transpose" ? plan.home(node.inputs[0]) : std::nullopt;
  if (!home) return false;
  // Blocks of channels have to be taken apart in any case; channels last may be all that is asked for.
  const bool blocked = is_blocked(*home);
  const Layout from = blocked ? Layout::nhwc : *home;
  for (const Layout layout : {Layout::plain, wanted}) {
    if (blocked && layout != Layout::plain) continue;
    if (!keeps_order(node, workload, from, layout)) continue;
    place_view(plan, node.outputs[0], in_layout(workload.output(0), layout), plan.get(node.inputs[0], from), 0);
    return true;
  }
  return false;
}

void add_view(PlanBuilder& plan, const Node& node, const Workload& workload) {
  const ValueId input = node.inputs[0];
  const Layout layout = node.op == "Identity" ? plan.home(input).value_or(Layout::plain) : Layout::plain;
  place_view(plan, node.outputs[0], in_layout(workload.output(0), layout), plan.get(input, layout), 0);
}

bool add_parts(PlanBuilder& plan, const Node& node, const Workload& workload) {
  const auto cut = find_cut(node, workload, plan.facts());
  const auto home = cut ? plan.home(node.inputs[0]) : std::nullopt;
  if (!home) return false;
  const TensorSpec whole = in_layout(workload.input(0), *home);
  std::vector<int64_t> offsets;
  int64_t begin = cut->begin;
  for (const auto& output : workload.outputs) {
    if (!output) return false;
    const int64_t length = output->dims[cut->axis];
    const auto offset = part_offset(whole, cut->axis, begin, length);
    if (!offset) return false;
    offsets.push_back(*offset);
    begin += length;
  }
  const SlotId source = plan.get(node.inputs[0], *home);
  for (size_t i = 0; i < offsets.size(); ++i)
    place_view(plan, node.outputs[i], in_layout(workload.output(i), *home), source, offsets[i]);
  return true;
}

bool add_taken(PlanBuilder& plan, const Node& node, const Workload& workload) {
  if (!node.domain.empty() || node.op != "Gather" || plan.home(node.inputs[0]) != Layout::plain) return false;
  const Tensor& index = plan.facts().constants[static_cast<size_t>(node.inputs[1])];
  if (index.empty() || index.count() != 1) return false;
  const TensorSpec whole = in_layout(workload.input(0), Layout::plain);
  const size_t axis = axis_of(node, whole.dims.size());
  const int64_t length = whole.dims[axis], given = element_as_int(index, 0), at = given < 0 ? given + length : given;
  if (at < 0 || at >= length) return false;  // the operator says so
  const auto offset = part_offset(whole, axis, at, 1);
  if (!offset) return false;
  const SlotId source = plan.get(node.inputs[0], Layout::plain);
  place_view(plan, node.outputs[0], in_layout(workload.output(0), Layout::plain), source, *offset);
  return true;
}

bool join_in_place(PlanBuilder& plan, const Node& node, const Workload& workload) {
  if (!node.domain.empty() || node.op != "Concat") return false;
  const auto layout = plan.home(node.inputs[0]);
  if (!layout) return false;
  const TensorSpec whole = in_layout(workload.output(0), *layout);
  const size_t axis = axis_of(node, whole.dims.size());
  std::vector<std::pair<SlotId, int64_t>> places;
  int64_t begin = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (plan.home(node.inputs[i]) != layout) return false;
    const SlotId id = own_storage(plan, node.inputs[i], *layout);
    const int64_t length = workload.input(i).dims[axis];
    const auto offset = part_offset(whole, axis, begin, length);
    const bool twice = std::any_of(places.begin(), places.end(), [&](const auto& place) { return place.first == id; });
    if (id == kNoSlot || !offset || twice) return false;
    places.emplace_back(id, *offset);
    begin += length;
  }
  Slot output;
  output.name = plan.graph().value(node.outputs[0]).name;
  output.spec = whole;
  output.bytes = checked_bytes(whole, node);
  const SlotId created = plan.new_slot(std::move(output));
  plan.place(node.outputs[0], *layout, created);
  for (const auto& [id, offset] : places) {
    Slot& part = plan.slot(id);
    part.kind = Slot::Kind::view;
    part.source = created;
    part.source_offset = offset;
  }
  return true;
}

}  // namespace attune
