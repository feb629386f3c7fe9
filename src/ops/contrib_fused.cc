// FusedConv and FusedGemm: the ONNX operator, then a residual and an activation in place.
#include "base/parallel.h"
#include "ops/contrib_math.h"
#include "ops/conv_shape.h"
#include "ops/recurrent_activation.h"
#include "ops/run_node.h"
#include "ops/widen.h"

#include <algorithm>
#include <limits>

namespace attune::contrib {
namespace {

constexpr int kInnerOpset = 13;  // Conv and Gemm mean the same in every opset from here on
constexpr int64_t kGrain = 4 * 1024;

/// Runs `body(values, count)` on pieces of a float tensor in its compute type.
template <class F> void transform(const OpContext& context, Tensor& values, F body) {
  dispatch_compute(values.dtype(), context, [&]<class C>() {
    RoundedOutput<C> place(values);
    if (values.dtype() != dtype_of<C>()) {
      const Tensor wide = widened<C>(values, context);
      std::copy_n(wide.data<C>(), wide.count(), place.data());
    }
    C* data = place.data();
    parallel_for(values.count(), kGrain, [&](int64_t begin, int64_t end) { body(data + begin, end - begin); });
    place.store();
  });
}

/// Parameter i of the activation, whichever of the two spellings the node uses.
std::optional<float> parameter(const OpContext& context, size_t i) {
  const std::vector<float> list = context.attr_floats("activation_params", {});
  if (i < list.size()) return list[i];
  const std::string_view name = i == 0 ? "activation_alpha" : "activation_beta";
  if (context.has_attr(name)) return context.attr_float(name);
  return std::nullopt;
}

/// The node's own operator without what was fused to it.
Node inner_node(const OpContext& context, std::string op, size_t inputs) {
  Node node;
  node.name = context.node().name;
  node.op = std::move(op);
  node.version = kInnerOpset;
  node.inputs = context.node().inputs;
  if (node.inputs.size() > inputs) node.inputs.resize(inputs);
  node.outputs = {0};
  for (const auto& [name, value] : context.node().attributes)
    if (!name.starts_with("activation")) node.attributes[name] = value;
  return node;
}

Tensor run_inner(KernelContext& context, std::string op, size_t inputs) {
  const Node node = inner_node(context, std::move(op), inputs);
  std::vector<const Tensor*> operands;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    operands.push_back(context.has_input(static_cast<int>(i)) ? &context.input(static_cast<int>(i)) : nullptr);
  return run_node(node, operands)[0];
}

void add_in_place(const OpContext& context, Tensor& values, const Tensor& other) {
  dispatch<FloatTypes>(values.dtype(), context, [&]<class T>() {
    using C = compute_t<T>;
    T* dst = values.mutable_data<T>();
    const T* src = other.data<T>();
    parallel_for(values.count(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) dst[i] = T(static_cast<C>(dst[i]) + static_cast<C>(src[i]));
    });
  });
}

}  // namespace

void apply_fused_activation(const OpContext& context, Tensor& values) {
  const std::string name = context.attr_string("activation", "");
  if (name.empty()) return;
  if (name == "Clip") {
    const float low = parameter(context, 0).value_or(std::numeric_limits<float>::lowest());
    const float high = parameter(context, 1).value_or(std::numeric_limits<float>::max());
    transform(context, values, [=]<class C>(C* data, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        data[i] = std::min(std::max(data[i], static_cast<C>(low)), static_cast<C>(high));
    });
    return;
  }
  const auto activation = recurrent::activation_named(name, parameter(context, 0), parameter(context, 1), context);
  transform(context, values, [&]<class C>(C* data, int64_t count) {
    recurrent::activate(activation, std::numeric_limits<C>::infinity(), data, count);
  });
}

void infer_fused_conv(InferContext& context) {
  context.set_output(0, context.dtype(0), conv_output_shape(context, context.shape(0), context.shape(1)));
}

void run_fused_conv(KernelContext& context) {
  Tensor dst = run_inner(context, "Conv", 3);
  if (context.has_input(3)) {
    const Tensor& residual = context.input(3);
    if (residual.dims() != dst.dims() || residual.dtype() != dst.dtype())
      context.fail("Z is {} {}, expected {} {}", dtype_name(residual.dtype()), to_text(residual.dims()),
                   dtype_name(dst.dtype()), to_text(dst.dims()));
    add_in_place(context, dst, residual);
  }
  apply_fused_activation(context, dst);
  context.set_output(0, std::move(dst));
}

void infer_fused_gemm(InferContext& context) {
  const auto matrix_dim = [&](int i, bool transposed, size_t axis) {
    const auto& shape = context.shape(i);
    if (!shape) return Dim::unknown();
    if (shape->size() != 2) context.fail("input {} has rank {}, expected 2", i, shape->size());
    return (*shape)[transposed ? 1 - axis : axis];
  };
  const bool trans_a = context.attr_int("transA", 0) != 0, trans_b = context.attr_int("transB", 0) != 0;
  const Dim left = matrix_dim(0, trans_a, 1), right = matrix_dim(1, trans_b, 0);
  if (left.is_known() && right.is_known() && left.value() != right.value())
    context.fail("A has {} columns, B has {} rows", left.value(), right.value());
  context.set_output(0, context.dtype(0), Shape{matrix_dim(0, trans_a, 0), matrix_dim(1, trans_b, 1)});
}

void run_fused_gemm(KernelContext& context) {
  Tensor dst = run_inner(context, "Gemm", 3);
  apply_fused_activation(context, dst);
  context.set_output(0, std::move(dst));
}

}  // namespace attune::contrib
