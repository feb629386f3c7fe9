// The fused operators that rewriting makes, domain "attune": FusedConv (Conv with an epilogue) and FusedMatMul (MatMul
// with an epilogue). Their reference kernels run the parts one after the other.
#include "ops/broadcast.h"
#include "ops/epilogue.h"
#include "ops/families.h"
#include "ops/registry.h"
#include "ops/run_node.h"

namespace attune {
namespace {

constexpr int kBaseOpset = 22;  // of the operator inside

/// The plain operator inside a fused node: its first `operands` inputs and all attributes but the epilogue.
Node base_node(const Node& fused, const char* op, size_t operands) {
  Node base = fused;
  base.domain.clear();
  base.op = op;
  base.version = kBaseOpset;
  base.attributes.erase("epilogue");
  base.inputs.resize(std::min(operands, fused.inputs.size()));
  while (!base.inputs.empty() && base.inputs.back() == kNoValue) base.inputs.pop_back();
  return base;
}

/// Lets the inner operator infer on the fused node's own inputs.
class InnerInfer final : public InferContext {
 public:
  InnerInfer(const Node& base, InferContext& outer) : InferContext(base), outer_(outer) {}
  const ValueType& input(int i) const override { return outer_.input(i); }
  const Tensor* constant(int i) const override { return outer_.constant(i); }
  std::optional<std::vector<Dim>> content(int i) const override { return outer_.content(i); }
  void set_output(int i, DType dtype, std::optional<Shape> shape) override {
    outer_.set_output(i, dtype, std::move(shape));
  }
  void set_content(int, std::vector<Dim>) override {}
  std::vector<ValueType> infer_subgraph(const Graph& graph, std::span<const ValueType> inputs) override {
    return outer_.infer_subgraph(graph, inputs);
  }

 private:
  InferContext& outer_;
};

void infer_fused(InferContext& context, const char* op, size_t operands) {
  for (const EpilogueStep& step : parse_epilogue(context.node().attributes))
    if (step.is_binary() && !context.has_input(step.input))
      context.fail("epilogue step '{}' names an input that the node does not have", to_text(step));
  const Node base = base_node(context.node(), op, operands);
  InnerInfer inner(base, context);
  require_op(base).infer(inner);
}

void run_fused(KernelContext& context, const char* op, size_t operands) {
  const Node base = base_node(context.node(), op, operands);
  std::vector<const Tensor*> inputs;
  for (size_t i = 0; i < base.inputs.size(); ++i)
    inputs.push_back(base.inputs[i] == kNoValue ? nullptr : &context.input(static_cast<int>(i)));
  Tensor result = run_node(base, inputs)[0];
  for (const EpilogueStep& step : parse_epilogue(context.node().attributes)) {
    std::vector<const Tensor*> operands_of_step = {&result};
    if (step.is_binary()) operands_of_step.push_back(&context.input(step.input));
    result = run_node(epilogue_node(step), operands_of_step)[0];
  }
  context.set_output(0, std::move(result));
}

// The operands of Conv are X, W, B; those of MatMul A, B. Inputs after them belong to the epilogue.
constexpr size_t kConvOperands = 3;
constexpr size_t kMatMulOperands = 2;

double fused_flops(const CostContext& context, const char* op, size_t operands) {
  const Node base = base_node(context.node(), op, operands);
  const OpDef& definition = require_op(base);
  std::vector<ValueType> inputs, outputs;
  for (size_t i = 0; i < base.inputs.size(); ++i)
    inputs.push_back({DType::f32, to_shape(context.input_dims(static_cast<int>(i)))});
  outputs.push_back({DType::f32, to_shape(context.output_dims(0))});
  const double steps = static_cast<double>(parse_epilogue(context.node().attributes).size());
  return definition.flops(CostContext(base, inputs, outputs)) + steps * context.output_elements(0);
}

const OpDef kOps[] = {
    {.domain = "attune",
     .name = "FusedConv",
     .since = 1,
     .inputs = {2, kVariadic},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_speed,
     .infer = [](InferContext& context) { infer_fused(context, "Conv", kConvOperands); },
     .kernel = [](KernelContext& context) { run_fused(context, "Conv", kConvOperands); },
     .flops = [](const CostContext& context) { return fused_flops(context, "Conv", kConvOperands); }},
    {.domain = "attune",
     .name = "FusedMatMul",
     .since = 1,
     .inputs = {2, kVariadic},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = [](InferContext& context) { infer_fused(context, "MatMul", kMatMulOperands); },
     .kernel = [](KernelContext& context) { run_fused(context, "MatMul", kMatMulOperands); },
     .flops = [](const CostContext& context) { return fused_flops(context, "MatMul", kMatMulOperands); }},
};

}  // namespace

std::span<const OpDef> fused_ops() { return kOps; }

}  // namespace attune
