// Matrix products: MatMul and attune::FusedMatMul, of any rank and batch.
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/post_ops.h"
#include "providers/onednn/product_dims.h"
#include "providers/onednn/window.h"

#include <algorithm>

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::matmul::primitive_desc;
using InnerDesc = dnnl::inner_product_forward::primitive_desc;
using Desc = dnnl::memory::desc;

constexpr const char* kInnerProduct = "ip:";  // before the name of an implementation

bool is_full(const TensorSpec& spec, const TensorSpec& result) { return spec.dims == result.dims; }

/// Repeats over everything but the last dim.
bool is_row(const TensorSpec& spec) {
  return std::all_of(spec.dims.begin(), spec.dims.empty() ? spec.dims.end() : spec.dims.end() - 1,
                     [](int64_t d) { return d == 1; });
}

/// One product for all leading dims of A: right when B has none of its own and every operand of the epilogue is either
/// as large as the result or a row.
bool can_flatten(const Workload& workload) {
  const TensorSpec &a = workload.input(0), &b = workload.input(1), &result = workload.output(0);
  if (b.dims.size() != 2 || a.dims.size() < 3) return false;
  for (size_t i = 2; i < workload.inputs.size(); ++i)
    if (workload.inputs[i] && !is_full(workload.input(i), result) && !is_row(workload.input(i))) return false;
  return true;
}

/// A workload as oneDNN's matmul sees it: operands of one rank of at least 2.
struct Problem {
  Workload view;  // the workload with operands reshaped to that rank
  Desc src, weights, dst, plain_weights;
  PostOps post_ops;

  explicit Problem(const Workload& workload) : view(workload) {
    require_float(workload, {0, 1});
    for (const auto* specs : {&workload.inputs, &workload.outputs})
      for (const auto& spec : *specs)
        if (spec && spec->layout != Layout::plain)
          throw UnsupportedError("a matrix product takes plain operands, got {}", to_text(spec));
    const bool had_vector = workload.input(0).dims.size() == 1 || workload.input(1).dims.size() == 1;
    if (had_vector && workload.inputs.size() > 2) throw UnsupportedError("a fused product with a vector");
    const bool flatten = can_flatten(workload);
    const auto [a, b, c] =
        product_dims({workload.input(0).dims, workload.input(1).dims, workload.output(0).dims}, flatten);
    if (flatten)
      for (size_t i = 2; i < view.inputs.size(); ++i)
        if (view.inputs[i])
          view.inputs[i]->dims = is_full(workload.input(i), workload.output(0))
                                     ? c
                                     : Dims{1, workload.input(i).dims.empty() ? 1 : workload.input(i).dims.back()};
    view.inputs[0]->dims = a;
    view.inputs[1]->dims = b;
    view.outputs[0]->dims = c;
    src = describe_plain(view.input(0).dtype, a);
    plain_weights = describe_plain(view.input(1).dtype, b);
    // Packing pays for weights; a product of two activations reads them as they are.
    weights = view.input(1).constant ? describe_any(view.input(1).dtype, b) : plain_weights;
    dst = describe_plain(view.output(0).dtype, c);
    post_ops = make_post_ops(view, view.output(0));
  }

  std::vector<Implementation<PrimitiveDesc>> implementations() const {
    const dnnl::matmul::desc desc(src, weights, dst);
    return list_implementations<PrimitiveDesc>(desc, post_ops.attributes);
  }

  /// The library's other primitive for a product of two matrices, with implementations of its own. It has weights as
  /// [columns, depth].
  bool suits_inner_product() const { return src.dims().size() == 2 && view.input(1).constant; }
  Desc inner_weights() const {
    const auto dims = plain_weights.dims();
    return {{dims[1], dims[0]}, plain_weights.data_type(), dnnl::memory::dims{1, dims[1]}};
  }
  std::vector<Implementation<InnerDesc>> inner_implementations() const {
    const auto dims = plain_weights.dims();
    const dnnl::inner_product_forward::desc desc(dnnl::prop_kind::forward_inference, src,
                                                 describe_any(view.input(1).dtype, {dims[1], dims[0]}), dst);
    auto list = without_references(list_implementations<InnerDesc>(desc, post_ops.attributes));
    for (auto& one : list) one.name = kInnerProduct + one.name;
    return list;
  }
};

bool serves(const Workload& workload) {
  return (workload.domain.empty() && workload.op == "MatMul") ||
         (workload.domain == "attune" && workload.op == "FusedMatMul");
}

std::variant<Offer, Refusal> offer(const Workload& workload) {
  Offer result;
  for (const Config& config : implementation_configs(Problem(workload).implementations()))
    if (!is_reference(config.at("impl"))) result.configs.push_back(config);
  if (const Problem problem(workload); problem.suits_inner_product())
    for (const Config& config : implementation_configs(problem.inner_implementations()))
      result.configs.push_back(config);
  return result;
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const Problem problem(workload);
  PrimitiveProgram program;
  const auto add_step = [&](const auto& primitive, const Desc& plain_weights, const Desc& packed_weights) {
    std::vector<Argument> arguments = {{DNNL_ARG_SRC, problem.src, Source::input, 0},
                                       {DNNL_ARG_DST, problem.dst, Source::output, 0}};
    arguments.push_back(program.packed_input(DNNL_ARG_WEIGHTS, workload, 1, plain_weights, packed_weights));
    arguments.insert(arguments.end(), problem.post_ops.arguments.begin(), problem.post_ops.arguments.end());
    program.steps.push_back({primitive, std::move(arguments)});
  };
  const auto wanted = config.find("impl");
  if (wanted != config.end() && wanted->second.starts_with(kInnerProduct) && problem.suits_inner_product()) {
    const InnerDesc pd = choose_implementation(problem.inner_implementations(), config);
    add_step(dnnl::inner_product_forward(pd), problem.inner_weights(), pd.weights_desc());
  } else {
    const PrimitiveDesc pd = choose_implementation(problem.implementations(), config);
    add_step(dnnl::matmul(pd), problem.plain_weights, pd.weights_desc());
  }
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kMatMul{serves, offer, build};

}  // namespace attune::onednn
