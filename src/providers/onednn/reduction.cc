// Reductions over the last axes: sums, means and products. (Of norms the library has its slow reference only.)
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/primitive_kernel.h"
#include "providers/onednn/window.h"

#include <algorithm>

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::reduction::primitive_desc;
using Algorithm = dnnl::algorithm;

struct Function {
  std::string_view op;
  Algorithm algorithm;
};
// Not ReduceMax and ReduceMin: the library starts from the largest finite numbers, so infinities alone come out wrong.
constexpr Function kFunctions[] = {
    {"ReduceSum", Algorithm::reduction_sum},
    {"ReduceMean", Algorithm::reduction_mean},
    {"ReduceProd", Algorithm::reduction_mul},
};

const Function* find_function(const Workload& workload) {
  for (const Function& function : kFunctions)
    if (function.op == workload.op) return &function;
  return nullptr;
}

/// Every way to get `result` from `dims` by leaving axes out, as dims with a 1 in their place; equal ways once.
void find_kept(const Dims& dims, const Dims& result, size_t at, size_t matched, Dims& kept, std::vector<Dims>& ways) {
  if (at == dims.size()) {
    if (matched == result.size() && std::ranges::find(ways, kept) == ways.end()) ways.push_back(kept);
    return;
  }
  if (matched < result.size() && dims[at] == result[matched]) {
    kept[at] = dims[at];
    find_kept(dims, result, at + 1, matched + 1, kept, ways);
  }
  kept[at] = 1;
  find_kept(dims, result, at + 1, matched, kept, ways);
}

/// The output's dims with a 1 for every axis that is summed over. Newer opsets give the axes as an input, whose
/// contents a workload does not have; the dims of the output tell them, unless several choices of axes lead to the same
/// dims.
Dims kept_dims(const Workload& workload, const OpContext& context) {
  const Dims &dims = workload.input(0).dims, &result = workload.output(0).dims;
  if (context.attr_int("keepdims", 1) != 0) return result;
  if (result.empty()) return Dims(dims.size(), 1);
  if (context.has_attr("axes")) {
    Dims kept = dims;
    for (const int64_t axis : context.attr_ints("axes"))
      kept[static_cast<size_t>(context.axis_in_range(axis, static_cast<int64_t>(dims.size())))] = 1;
    return kept;
  }
  std::vector<Dims> ways;
  Dims kept(dims.size(), 1);
  find_kept(dims, result, 0, 0, kept, ways);
  if (ways.size() != 1)
    throw UnsupportedError("the dims {} and {} do not tell which axes go", to_text(dims), to_text(result));
  return ways.front();
}

struct Problem {
  dnnl::memory::desc src, dst;

  explicit Problem(const Workload& workload) {
    require_float(workload, {0});
    for (const auto* spec : {&workload.inputs[0], &workload.outputs[0]})
      if ((*spec)->layout != Layout::plain)
        throw UnsupportedError("reductions take plain tensors, got {}", to_text(*spec));
    const Node node = workload.node();
    const Dims kept = kept_dims(workload, OpContext(node));
    if (kept == workload.input(0).dims) throw UnsupportedError("nothing is reduced");
    // One f32 sum takes all elements in turn: beyond some thousands it loses more digits than high precision allows.
    constexpr int64_t kLongest = 1 << 14;
    const int64_t length = element_count(workload.input(0).dims) / std::max<int64_t>(1, element_count(kept));
    if (length > kLongest) throw UnsupportedError("a sum of {} elements in one f32; at most {}", length, kLongest);
    // Neighbours that share their fate are one axis.
    Dims from, to;
    const Dims& dims = workload.input(0).dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == 1) continue;
      const bool reduced = kept[i] == 1;
      if (!from.empty() && reduced == (to.back() == 1)) {
        from.back() *= dims[i];
        if (!reduced) to.back() *= dims[i];
      } else {
        from.push_back(dims[i]);
        to.push_back(reduced ? 1 : dims[i]);
      }
    }
    src = describe_plain(workload.input(0).dtype, from);
    dst = describe_plain(workload.output(0).dtype, to);
  }
};

std::vector<Implementation<PrimitiveDesc>> implementations(const Workload& workload, const Problem& problem) {
  const Function& function = *find_function(workload);
  const dnnl::reduction::desc desc(function.algorithm, problem.src, problem.dst, 0.0F, 0.0F);
  return without_references(list_implementations<PrimitiveDesc>(desc, base_attributes()));
}

bool serves(const Workload& workload) { return workload.domain.empty() && find_function(workload) != nullptr; }

std::variant<Offer, Refusal> offer(const Workload& workload) {
  const Offer found{implementation_configs(implementations(workload, Problem(workload)))};
  if (found.configs.empty()) return refuse("oneDNN reduces the last axes only, apart from its slow reference");
  return found;
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const Problem problem(workload);
  const PrimitiveDesc pd = choose_implementation(implementations(workload, problem), config);
  PrimitiveProgram program;
  program.steps.push_back(
      {dnnl::reduction(pd),
       {{DNNL_ARG_SRC, problem.src, Source::input, 0}, {DNNL_ARG_DST, problem.dst, Source::output, 0}}});
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kReduction{serves, offer, build};

}  // namespace attune::onednn
