// attune::FusedVector: the operators of a little program one after the other, on inputs that broadcast. Everything
// between inputs and outputs is f32; a cast to bf16 rounds, and so does an output of it. The reference kernel runs the
// steps as nodes of their own.
#include "ops/broadcast.h"
#include "ops/convert.h"
#include "ops/families.h"
#include "ops/run_node.h"
#include "ops/vector_program.h"
#include "ops/wide_tensor.h"

namespace attune {
namespace {

using Operand = VectorOperand;

void check_operands(const InferContext& context, const VectorProgram& program) {
  for (const VectorStep& step : program.steps)
    for (size_t i = 0; i < step.operands.size(); ++i) {
      const Operand& operand = step.operands[i];
      if (operand.kind != Operand::Kind::input) continue;
      if (!context.has_input(operand.index))
        context.fail("step '{}' names an input that the node does not have", to_text(step));
      const DType dtype = context.dtype(operand.index);
      const bool condition = step.op == "Where" && i == 0;
      const bool fits = condition ? dtype == DType::boolean : dtype == DType::f32 || dtype == DType::bf16;
      if (!fits && dtype != DType::undefined)
        context.fail("step '{}' reads {}, expected {}", to_text(step), dtype_name(dtype),
                     condition ? "bool" : "f32 or bf16");
    }
}

void infer_fused_vector(InferContext& context) {
  const VectorProgram program = parse_vector_program(context.node().attributes);
  check_operands(context, program);
  if (static_cast<size_t>(context.output_count()) != program.results.size())
    context.fail("there are {} outputs and {} results", context.output_count(), program.results.size());
  std::vector<DType> inputs;
  for (int i = 0; i < context.input_count(); ++i) inputs.push_back(context.dtype(i));
  const auto types = program.types(inputs);
  const auto shape = broadcast_inputs(context, 0, context.input_count());
  for (size_t i = 0; i < program.results.size(); ++i)
    context.set_output(static_cast<int>(i), types[static_cast<size_t>(program.results[i])], shape);
}

Tensor expanded(const Tensor& tensor, const Dims& dims) {
  if (tensor.dims() == dims) return tensor;
  Node node;
  node.name = node.op = "Expand";
  node.version = 13;
  node.inputs = {0, 1};
  node.outputs = {0};
  Tensor shape = Tensor::allocate(DType::i64, {static_cast<int64_t>(dims.size())});
  std::copy(dims.begin(), dims.end(), shape.mutable_data<int64_t>());
  const Tensor* inputs[] = {&tensor, &shape};
  return run_node(node, inputs)[0];
}

Tensor run_step(const VectorStep& step, const std::vector<Tensor>& inputs, const std::vector<Tensor>& results,
                const Dims& dims) {
  std::vector<Tensor> operands;
  for (const Operand& operand : step.operands)
    operands.push_back(operand.is_number()                    ? Tensor::scalar<float>(operand.number)
                       : operand.kind == Operand::Kind::input ? inputs[static_cast<size_t>(operand.index)]
                                                              : results[static_cast<size_t>(operand.index)]);
  if (step.op == "ToF32") return operands[0];  // as everything between is
  if (step.looks_at_rows()) operands[0] = expanded(operands[0], dims);
  std::vector<const Tensor*> pointers;
  for (const Tensor& operand : operands) pointers.push_back(&operand);
  return widened(run_node(vector_step_node(step), pointers)[0]);
}

void run_fused_vector(KernelContext& context) {
  const VectorProgram program = parse_vector_program(context.node().attributes);
  const Dims dims = context.output(0).dims();
  std::vector<Tensor> inputs, results;
  for (int i = 0; i < context.input_count(); ++i)
    inputs.push_back(context.has_input(i) ? widened(context.input(i)) : Tensor{});
  for (const VectorStep& step : program.steps) results.push_back(run_step(step, inputs, results, dims));
  for (size_t i = 0; i < program.results.size(); ++i) {
    const Tensor wide = expanded(results[static_cast<size_t>(program.results[i])], dims);
    context.set_output(static_cast<int>(i), convert(wide, context.output(static_cast<int>(i)).dtype()));
  }
}

double fused_vector_flops(const CostContext& context) {
  constexpr double kOfRows = 5;  // as the operators on rows count themselves
  double flops = 0;
  for (const VectorStep& step : parse_vector_program(context.node().attributes).steps)
    flops += (step.looks_at_rows() ? kOfRows : 1) * context.output_elements(0);
  return flops;
}

const OpDef kOps[] = {{.domain = "attune",
                       .name = "FusedVector",
                       .since = 1,
                       .inputs = {1, kVariadic},
                       .outputs = {1, kVariadic},
                       .layout_class = LayoutClass::decides_function,
                       .infer = infer_fused_vector,
                       .kernel = run_fused_vector,
                       .flops = fused_vector_flops}};

}  // namespace

std::span<const OpDef> fused_vector_ops() { return kOps; }

}  // namespace attune
