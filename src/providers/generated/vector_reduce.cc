#include "providers/generated/vector_reduce.h"

#include "codegen/text.h"
#include "codegen/vector/reduce_kernel.h"
#include "ops/context.h"
#include "providers/generated/vector_operands.h"
#include "providers/generated/vector_parameters.h"

#include <algorithm>

namespace attune {
namespace {

using namespace codegen;
using Kind = ReduceKernel::Kind;

struct KindOfOp {
  std::string_view op;
  Kind kind;
};
constexpr KindOfOp kKinds[] = {
    {"ReduceSum", Kind::sum},        {"ReduceMean", Kind::mean},
    {"ReduceMax", Kind::max},        {"ReduceMin", Kind::min},
    {"ReduceProd", Kind::product},   {"ReduceL1", Kind::l1},
    {"ReduceL2", Kind::l2},          {"ReduceSumSquare", Kind::sum_square},
    {"ReduceLogSum", Kind::log_sum}, {"ReduceLogSumExp", Kind::log_sum_exp},
};

/// Which axes are reduced: by attribute, else as far as the shapes tell. Axes that are an input stand in no workload,
/// but only axes of length 1, for which it makes no difference, look alike when they are kept as ones.
std::optional<std::vector<bool>> reduced_axes(const Workload& workload, const OpContext& context) {
  const Dims &from = workload.input(0).dims, &to = workload.output(0).dims;
  std::vector<bool> reduced(from.size(), false);
  if (!workload.has_input(1)) {
    const auto axes = context.attr_ints("axes", {});
    if (axes.empty()) return std::vector<bool>(from.size(), context.attr_int("noop_with_empty_axes", 0) == 0);
    for (const int64_t axis : axes)
      reduced[static_cast<size_t>(context.axis_in_range(axis, static_cast<int64_t>(from.size())))] = true;
    return reduced;
  }
  if (from.size() == to.size()) {
    for (size_t i = 0; i < from.size(); ++i) reduced[i] = to[i] != from[i];
    return reduced;
  }
  // Dropped axes: the dims that are left must be found in one way only, from the left as from the right.
  const auto match = [&](auto begin, auto end, auto kept, auto kept_end) {
    std::vector<bool> gone;
    for (auto at = begin; at != end; ++at) {
      const bool keeps = kept != kept_end && *at == *kept;
      if (keeps) ++kept;
      gone.push_back(!keeps);
    }
    return gone;
  };
  reduced = match(from.begin(), from.end(), to.begin(), to.end());
  auto backwards = match(from.rbegin(), from.rend(), to.rbegin(), to.rend());
  std::reverse(backwards.begin(), backwards.end());
  return reduced == backwards ? std::optional(reduced) : std::nullopt;
}

std::variant<ReduceKernel, Refusal> describe(const Workload& workload) {
  const auto* found = std::ranges::find(kKinds, workload.op, &KindOfOp::op);
  if (!workload.domain.empty() || found == std::end(kKinds))
    return refuse("operator '{}' does not reduce", workload.op);
  const TensorSpec &input = workload.input(0), &output = workload.output(0);
  const auto from = generated::element_of(input.dtype), to = generated::element_of(output.dtype);
  if (!from || !to) return refuse("vector kernels compute on f32 and bf16, got {}", to_text(input));
  if (input.layout != Layout::plain || output.layout != Layout::plain)
    return refuse("reductions are generated for plain layout, got {}", to_text(input));
  if (element_count(input.dims) == 0) return refuse("there is nothing to compute in an empty tensor");
  const Node node = workload.node();
  const auto reduced = reduced_axes(workload, OpContext(node));
  if (!reduced) return refuse("the shapes do not tell which axes of {} are reduced", to_text(input));
  ReduceKernel kernel{found->kind, {}, *from, *to};
  int64_t from_stride = 1, to_stride = 1;
  for (size_t i = input.dims.size(); i-- > 0;) {
    const bool gone = (*reduced)[i] && input.dims[i] != 1;
    kernel.nest.loops.push_back({input.dims[i], {from_stride, gone ? 0 : to_stride}});
    from_stride *= input.dims[i];
    if (!gone) to_stride *= input.dims[i];
  }
  std::ranges::reverse(kernel.nest.loops);
  if (std::ranges::none_of(kernel.nest.loops, [](const Loop& loop) { return loop.extent > 1 && loop.strides[1] == 0; }))
    return refuse("nothing is reduced in {}", workload.key());
  kernel.nest = simplify(std::move(kernel.nest), 0);
  if (!has_vector_rows(kernel)) return refuse("the rows of {} are not contiguous", to_text(input));
  return kernel;
}

ReduceKernel require_kernel(const Workload& workload) {
  auto described = describe(workload);
  if (const auto* refusal = std::get_if<Refusal>(&described)) throw UserError("{}", refusal->reason);
  return std::get<ReduceKernel>(std::move(described));
}

}  // namespace

std::optional<Refusal> VectorReduceGenerator::find_refusal(const Workload& workload) const {
  auto described = describe(workload);
  if (auto* refusal = std::get_if<Refusal>(&described)) return std::move(*refusal);
  return std::nullopt;
}

std::vector<Config> VectorReduceGenerator::offered(const Workload&) const {
  const Config usual{
      {"lanes", std::to_string(widest_lanes(usable_isa()))}, {"unroll", "4"}, {"task_elements", "16384"}};
  return {usual, generated::with(usual, {{"unroll", "1"}})};
}

void VectorReduceGenerator::declare(const Workload&, GeneratorSpace& space) const {
  space.ordinal("lanes", generated::lane_values());
  space.ordinal("unroll", {1, 2, 4, 8});
  space.power_of_two("task_elements", 1024, 65536);
}

GeneratedKernel VectorReduceGenerator::emit(const Workload& workload, const Config& config) const {
  const ReduceKernel kernel = require_kernel(workload);
  const generated::Parameters parameters(config);
  const ReduceConfig choice{.lanes = static_cast<int>(parameters.number("lanes")),
                            .unroll = static_cast<int>(parameters.number("unroll")),
                            .task_elements = parameters.number("task_elements")};
  GeneratedKernel out;
  out.source = emit_reduce(kernel, choice, usable_isa(), header_comment({workload.key(), to_text(config)}));
  out.task_count = reduce_task_count(kernel, choice);
  return out;
}

}  // namespace attune
