// The definition of an operator: schema, shape inference, cost, layout class, reference kernel, place for the gradient.
#pragma once

#include "ops/context.h"

#include <span>
#include <string_view>

namespace attune {

/// What a change of memory layout means to an operator (spec L2).
enum class LayoutClass : uint8_t {
  decides_speed,     // conv, pool, norm: has kernels of its own for each layout
  decides_function,  // flatten, concat, softmax, reduce: an axis must be rewritten
  irrelevant,        // relu, add: passes any layout on
};

struct Cost {
  double flops = 0;
  double bytes = 0;  // read and written once each
};

/// Flops of a node whose input and output types are concrete; bytes are counted by the caller.
class CostContext : public OpContext {
 public:
  CostContext(const Node& node, std::vector<ValueType> inputs, std::vector<ValueType> outputs)
      : OpContext(node), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}
  Dims input_dims(int i) const { return concrete(inputs_.at(static_cast<size_t>(i)).shape).value_or(Dims{}); }
  Dims output_dims(int i) const { return concrete(outputs_.at(static_cast<size_t>(i)).shape).value_or(Dims{}); }
  double input_elements(int i) const { return static_cast<double>(element_count(input_dims(i))); }
  double output_elements(int i) const { return static_cast<double>(element_count(output_dims(i))); }

 private:
  std::vector<ValueType> inputs_, outputs_;
};

inline constexpr int kVariadic = 1 << 20;
struct Arity {
  int min = 1;
  int max = 1;
};

struct OpDef {
  std::string_view domain;  // "" is ai.onnx
  std::string_view name;
  int since = 1;  // oldest opset that this definition serves
  Arity inputs;
  Arity outputs;
  LayoutClass layout_class = LayoutClass::decides_function;
  void (*infer)(InferContext&) = nullptr;
  void (*kernel)(KernelContext&) = nullptr;
  double (*flops)(const CostContext&) = nullptr;  // nothing: moves data only
  int until = 1 << 20;                            // newest opset that has the operator (Upsample, Scatter: 9, 10)
};

/// One floating-point operation for each output element.
double elementwise_flops(const CostContext& context);

}  // namespace attune
