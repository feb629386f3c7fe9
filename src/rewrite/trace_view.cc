#include "rewrite/trace_view.h"

#include "ops/convert.h"
#include "ops/node_traits.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

const Dim kOne = 1;

/// a / b where that is whole; nothing otherwise.
std::optional<Dim> quotient(const Dim& a, const Dim& b) {
  const Dim result = a.floor_div(b);
  if (result * b == a) return result;
  return std::nullopt;
}

std::optional<std::vector<int64_t>> known_ints(const GraphFacts& facts, const Node& node, size_t input) {
  if (input >= node.inputs.size() || node.inputs[input] == kNoValue) return std::nullopt;
  const Tensor& tensor = facts.constants[static_cast<size_t>(node.inputs[input])];
  if (tensor.empty() || (tensor.dtype() != DType::i64 && tensor.dtype() != DType::i32)) return std::nullopt;
  std::vector<int64_t> result;
  for (int64_t i = 0; i < tensor.count(); ++i) result.push_back(static_cast<int64_t>(element_as_double(tensor, i)));
  return result;
}

std::optional<size_t> axis_of(const Node& node, int64_t fallback, size_t rank) {
  const auto axis =
      normalize_axis(attribute_or<int64_t>(node.attributes, "axis", fallback), static_cast<int64_t>(rank));
  return axis ? std::optional(static_cast<size_t>(*axis)) : std::nullopt;
}

}  // namespace

bool is_view_node(const Node& node) {
  constexpr std::string_view kOps[] = {"Transpose", "Split", "Slice", "Gather"};
  return renames_dims(node) || (node.domain.empty() && std::ranges::find(kOps, node.op) != std::end(kOps));
}

View::View(const Shape& shape) : axes_(shape.size()) {
  Dim stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (!(shape[i] == kOne)) axes_[i] = {{shape[i], stride}};
    stride = stride * shape[i];
  }
}

std::optional<Stretch> View::axis(size_t i) const {
  if (axes_[i].empty()) return Stretch{kOne, 0};
  // Stretches that continue each other are one.
  Stretch whole = axes_[i].front();
  for (size_t s = 1; s < axes_[i].size(); ++s) {
    const Stretch& next = axes_[i][s];
    if (!(whole.stride == next.stride * next.size)) return std::nullopt;
    whole = {whole.size * next.size, next.stride};
  }
  return whole;
}

bool View::follow(const GraphFacts& facts, const Node& node, ValueId output) {
  const auto& result = facts.types[static_cast<size_t>(output)].shape;
  if (!result) return false;
  if (renames_dims(node)) return regroup(*result);
  if (node.op == "Transpose") return permute(node);
  if (node.op == "Split") return split(facts, node, output);
  if (node.op == "Slice") return slice(facts, node, *result);
  if (node.op == "Gather") return pick(facts, node);
  return false;
}

bool View::regroup(const Shape& shape) {
  std::vector<Stretch> left;  // the fastest last
  for (const auto& axis : axes_) left.insert(left.end(), axis.begin(), axis.end());
  std::vector<std::vector<Stretch>> axes(shape.size());
  size_t at = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    Dim wanted = shape[i];
    while (!(wanted == kOne)) {
      if (at == left.size()) return false;
      Stretch& next = left[at];
      if (const auto rest = quotient(wanted, next.size)) {
        axes[i].push_back(next);
        wanted = *rest;
        ++at;
      } else if (const auto inner = quotient(next.size, wanted)) {
        axes[i].push_back({wanted, next.stride * *inner});
        next.size = *inner;
        wanted = kOne;
      } else {
        return false;
      }
    }
  }
  if (at != left.size()) return false;
  axes_ = std::move(axes);
  return true;
}

bool View::permute(const Node& node) {
  auto perm = attribute_or<std::vector<int64_t>>(node.attributes, "perm", {});
  if (perm.empty())
    for (size_t i = axes_.size(); i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  if (perm.size() != axes_.size()) return false;
  std::vector<std::vector<Stretch>> axes;
  for (const int64_t from : perm) axes.push_back(axes_.at(static_cast<size_t>(from)));
  axes_ = std::move(axes);
  return true;
}

bool View::cut(size_t axis, const Dim& begin, const Dim& size) {
  const auto whole = this->axis(axis);
  if (!whole || !begin.is_known() || begin.value() < 0) return false;
  offset_ = offset_ + begin * whole->stride;
  axes_[axis].clear();
  if (!(size == kOne)) axes_[axis] = {{size, whole->stride}};
  return !offset_.is_unknown();
}

bool View::split(const GraphFacts& facts, const Node& node, ValueId output) {
  const auto axis = axis_of(node, 0, axes_.size());
  if (!axis) return false;
  Dim begin = 0;
  for (const ValueId id : node.outputs) {
    if (id == kNoValue) return false;
    const auto& shape = facts.types[static_cast<size_t>(id)].shape;
    if (!shape || shape->size() != axes_.size()) return false;
    if (id == output) return cut(*axis, begin, (*shape)[*axis]);
    begin = begin + (*shape)[*axis];
  }
  return false;
}

bool View::slice(const GraphFacts& facts, const Node& node, const Shape& result) {
  if (node.inputs.size() < 4 || result.size() != axes_.size()) return false;  // axes must be named
  const auto starts = known_ints(facts, node, 1), axes = known_ints(facts, node, 3);
  if (!starts || !axes || starts->size() != axes->size()) return false;
  if (node.inputs.size() > 4 && node.inputs[4] != kNoValue) {
    const auto steps = known_ints(facts, node, 4);
    if (!steps || std::ranges::any_of(*steps, [](int64_t step) { return step != 1; })) return false;
  }
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto axis = normalize_axis((*axes)[i], static_cast<int64_t>(axes_.size()));
    if (!axis) return false;
    const auto at = static_cast<size_t>(*axis);
    const auto whole = this->axis(at);
    if (!whole) return false;
    Dim begin = (*starts)[i];
    if (begin.value() < 0) begin = whole->size + begin;
    // A start beyond the end is cut off there, which a symbolic size cannot tell.
    if (begin.is_known() && begin.value() > 0 && (!whole->size.is_known() || begin.value() > whole->size.value()))
      return false;
    if (!cut(at, begin, result[at])) return false;
  }
  return true;
}

bool View::pick(const GraphFacts& facts, const Node& node) {
  const auto axis = axis_of(node, 0, axes_.size());
  const auto index = known_ints(facts, node, 1);
  if (!axis || !index || facts.constants[static_cast<size_t>(node.inputs[1])].rank() != 0) return false;
  const auto whole = this->axis(*axis);
  if (!whole) return false;
  const Dim begin = index->front() < 0 ? whole->size + index->front() : Dim(index->front());
  if (!cut(*axis, begin, kOne)) return false;
  axes_.erase(axes_.begin() + static_cast<std::ptrdiff_t>(*axis));
  return true;
}

}  // namespace attune::rewrite
