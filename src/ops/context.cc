#include "ops/context.h"

#include "ops/op.h"

namespace attune {

double elementwise_flops(const CostContext& context) { return context.output_elements(0); }

const Attribute* OpContext::find_attr(std::string_view name) const {
  const auto found = node_->attributes.find(name);
  return found == node_->attributes.end() ? nullptr : &found->second;
}

template <class T> const T* OpContext::attr_as(std::string_view name, std::string_view kind) const {
  const Attribute* attribute = find_attr(name);
  if (attribute == nullptr) return nullptr;
  if (const T* typed = std::get_if<T>(attribute)) return typed;
  fail("attribute '{}' is of kind {}, expected {}", name, attribute_kind(*attribute), kind);
}

namespace {

template <class T> const T& required(const OpContext& context, const T* found, std::string_view name) {
  if (found == nullptr) context.fail("attribute '{}' is missing", name);
  return *found;
}

}  // namespace

int64_t OpContext::attr_int(std::string_view name) const {
  return required(*this, attr_as<int64_t>(name, "int"), name);
}
float OpContext::attr_float(std::string_view name) const {
  return required(*this, attr_as<float>(name, "float"), name);
}
const std::string& OpContext::attr_string(std::string_view name) const {
  return required(*this, attr_as<std::string>(name, "string"), name);
}
const std::vector<int64_t>& OpContext::attr_ints(std::string_view name) const {
  return required(*this, attr_as<std::vector<int64_t>>(name, "ints"), name);
}
const std::vector<float>& OpContext::attr_floats(std::string_view name) const {
  return required(*this, attr_as<std::vector<float>>(name, "floats"), name);
}
const std::vector<std::string>& OpContext::attr_strings(std::string_view name) const {
  return required(*this, attr_as<std::vector<std::string>>(name, "strings"), name);
}
const Tensor& OpContext::attr_tensor(std::string_view name) const {
  return required(*this, attr_as<Tensor>(name, "tensor"), name);
}
const Graph& OpContext::attr_graph(std::string_view name) const {
  return *required(*this, attr_as<std::shared_ptr<Graph>>(name, "graph"), name);
}

int64_t OpContext::attr_int(std::string_view name, int64_t fallback) const {
  const auto* found = attr_as<int64_t>(name, "int");
  return found ? *found : fallback;
}
float OpContext::attr_float(std::string_view name, float fallback) const {
  const auto* found = attr_as<float>(name, "float");
  return found ? *found : fallback;
}
std::string OpContext::attr_string(std::string_view name, std::string_view fallback) const {
  const auto* found = attr_as<std::string>(name, "string");
  return found ? *found : std::string(fallback);
}
std::vector<int64_t> OpContext::attr_ints(std::string_view name, std::vector<int64_t> fallback) const {
  const auto* found = attr_as<std::vector<int64_t>>(name, "ints");
  if (found != nullptr) return *found;
  return fallback;
}
std::vector<float> OpContext::attr_floats(std::string_view name, std::vector<float> fallback) const {
  const auto* found = attr_as<std::vector<float>>(name, "floats");
  if (found != nullptr) return *found;
  return fallback;
}

int64_t OpContext::axis_in_range(int64_t axis, int64_t rank) const {
  const auto normalized = normalize_axis(axis, rank);
  if (!normalized) fail("axis {} is out of range for a tensor of rank {}", axis, rank);
  return *normalized;
}

void OpContext::fail_text(const std::string& text) const {
  throw UserError("op '{}' (node '{}'): {}", node_->op, node_->name, text);
}
void OpContext::unsupported_text(const std::string& text) const {
  throw UnsupportedError("op '{}' (node '{}'): {}", node_->op, node_->name, text);
}

std::optional<std::vector<int64_t>> InferContext::known_ints(int i) const {
  if (!has_input(i)) return std::nullopt;
  const auto dims = content(i);
  if (!dims) return std::nullopt;
  return concrete(*dims);
}

std::optional<std::vector<int64_t>> InferContext::ints_from(std::string_view attribute, int i) const {
  if (has_attr(attribute)) return attr_ints(attribute);
  return known_ints(i);
}

std::vector<int64_t> KernelContext::ints(int i) const {
  const Tensor& tensor = input(i);
  if (tensor.dtype() == DType::i64) return {tensor.data<int64_t>(), tensor.data<int64_t>() + tensor.count()};
  if (tensor.dtype() == DType::i32) return {tensor.data<int32_t>(), tensor.data<int32_t>() + tensor.count()};
  fail("input {} has dtype {}, expected i64 or i32", i, dtype_name(tensor.dtype()));
}

std::optional<std::vector<int64_t>> KernelContext::ints_from(std::string_view attribute, int i) const {
  if (has_attr(attribute)) return attr_ints(attribute);
  if (has_input(i)) return ints(i);
  return std::nullopt;
}

}  // namespace attune
