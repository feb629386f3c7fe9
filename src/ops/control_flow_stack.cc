// Stacking what a body yields, slicing what it is fed, and the type rules of values that go round a loop.
#include "ops/control_flow.h"

#include <cstring>

namespace attune::control_flow {

std::optional<Shape> merge_shapes(const std::optional<Shape>& a, const std::optional<Shape>& b) {
  if (!a || !b || a->size() != b->size()) return std::nullopt;
  Shape merged(a->size());
  for (size_t i = 0; i < merged.size(); ++i)
    if ((*a)[i] == (*b)[i]) merged[i] = (*a)[i];
  return merged;
}

DType merge_dtypes(DType a, DType b, const OpContext& context, int output) {
  if (a == DType::undefined) return b;
  if (b == DType::undefined || a == b) return a;
  context.fail("output {} is {} on one path and {} on another", output, dtype_name(a), dtype_name(b));
}

namespace {

/// Whether `widened` still says all that `shape` said.
bool same_knowledge(const std::optional<Shape>& shape, const std::optional<Shape>& widened) {
  if (shape.has_value() != widened.has_value()) return false;
  if (!shape) return true;
  for (size_t i = 0; i < shape->size(); ++i)
    if ((*shape)[i].is_unknown() != (*widened)[i].is_unknown()) return false;
  return true;
}

int64_t product(const Dims& dims, size_t begin, size_t end) {
  int64_t count = 1;
  for (size_t i = begin; i < end; ++i) count *= dims[i];
  return count;
}

}  // namespace

std::vector<ValueType> infer_carried(InferContext& context, const Graph& body, std::vector<ValueType>& inputs,
                                     size_t first_input, size_t first_output, size_t carried) {
  // Each round forgets at least one dim or one rank, so this ends.
  while (true) {
    std::vector<ValueType> outputs = context.infer_subgraph(body, inputs);
    if (outputs.size() < first_output + carried)
      context.fail("the body has {} outputs, expected at least {}", outputs.size(), first_output + carried);
    bool stable = true;
    for (size_t i = 0; i < carried; ++i) {
      ValueType& in = inputs[first_input + i];
      const ValueType& out = outputs[first_output + i];
      in.dtype = merge_dtypes(in.dtype, out.dtype, context, static_cast<int>(i));
      std::optional<Shape> merged = merge_shapes(in.shape, out.shape);
      stable = stable && same_knowledge(in.shape, merged);
      in.shape = std::move(merged);
    }
    if (stable) return outputs;
  }
}

bool condition_of(const Tensor& tensor, const OpContext& context, std::string_view what) {
  if (tensor.dtype() != DType::boolean || tensor.count() != 1)
    context.fail("{} is {} {}, expected one bool", what, dtype_name(tensor.dtype()), to_text(tensor.dims()));
  return *tensor.data<uint8_t>() != 0;
}

std::optional<Shape> insert_dim(const std::optional<Shape>& shape, int64_t axis, const Dim& dim,
                                const OpContext& context) {
  if (!shape) return std::nullopt;
  Shape result = *shape;
  const int64_t at = context.axis_in_range(axis, static_cast<int64_t>(result.size()) + 1);
  result.insert(result.begin() + at, dim);
  return result;
}

void Stack::push(const Tensor& element, const OpContext& context) {
  if (is_packed(element.dtype()))
    context.unsupported("stacking elements of {}, which share bytes", dtype_name(element.dtype()));
  if (count_ == 0) {
    dtype_ = element.dtype();
    dims_ = element.dims();
  } else if (element.dtype() != dtype_ || element.dims() != dims_) {
    context.fail("the body yields {} {} after {} {}; elements of a scan output must be alike",
                 dtype_name(element.dtype()), to_text(element.dims()), dtype_name(dtype_), to_text(dims_));
  }
  bytes_.insert(bytes_.end(), element.bytes(), element.bytes() + element.size_bytes());
  ++count_;
}

Tensor Stack::finish(int64_t axis, StackOrder order, const Value& declared, const OpContext& context,
                     std::optional<int64_t> length) const {
  Dims dims = dims_;
  DType dtype = dtype_;
  if (count_ == 0) {
    dtype = declared.dtype;
    if (dtype == DType::undefined || !declared.shape)
      context.unsupported("no iteration ran and the body does not declare the type of its output '{}'", declared.name);
    for (const Dim& dim : *declared.shape) dims.push_back(dim.is_known() ? dim.value() : 0);
  }
  const int64_t total = length.value_or(count_);
  const auto at = static_cast<size_t>(context.axis_in_range(axis, static_cast<int64_t>(dims.size()) + 1));
  dims.insert(dims.begin() + static_cast<int64_t>(at), total);
  Tensor result = total == count_ ? Tensor::allocate(dtype, dims) : Tensor::zeros(dtype, dims);
  if (count_ == 0 || bytes_.empty()) return result;

  const int64_t outer = product(dims, 0, at);
  const int64_t chunk = static_cast<int64_t>(bytes_.size()) / count_ / outer;  // bytes inside one step of the axis
  std::byte* dst = result.mutable_bytes();
  for (int64_t i = 0; i < count_; ++i) {
    const int64_t place = order == StackOrder::append ? i : count_ - 1 - i;
    for (int64_t o = 0; o < outer; ++o)
      std::memcpy(dst + (o * total + place) * chunk, bytes_.data() + (i * outer + o) * chunk,
                  static_cast<size_t>(chunk));
  }
  return result;
}

Tensor slice_at(const Tensor& tensor, int64_t axis, int64_t index) {
  Dims dims = tensor.dims();
  const int64_t length = dims[static_cast<size_t>(axis)];
  dims.erase(dims.begin() + axis);
  Tensor result = Tensor::allocate(tensor.dtype(), dims);
  if (result.count() == 0) return result;
  const int64_t outer = product(dims, 0, static_cast<size_t>(axis));
  const int64_t chunk = result.size_bytes() / outer;
  for (int64_t o = 0; o < outer; ++o)
    std::memcpy(result.mutable_bytes() + o * chunk, tensor.bytes() + (o * length + index) * chunk,
                static_cast<size_t>(chunk));
  return result;
}

}  // namespace attune::control_flow
