#include "providers/onednn/quantization.h"

#include "base/error.h"
#include "device/cpu/cpu_info.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"

#include <cstring>

namespace attune::onednn {
namespace {

using Desc = dnnl::memory::desc;

int32_t read_byte(const std::byte* data, DType dtype) {
  return dtype == DType::i8 ? static_cast<int32_t>(static_cast<int8_t>(*data)) : static_cast<int32_t>(*data);
}

bool has_vnni() { return has_isa(cpu_info(), "avx512_vnni") || has_isa(cpu_info(), "avx_vnni"); }

Desc scalar_like(const Dims& scale_dims) { return describe_plain(DType::f32, Dims(scale_dims.size(), 1)); }

}  // namespace

void require_exact_products() {
  if (!has_vnni())
    throw UnsupportedError(
        "without VNNI instructions oneDNN adds pairs of 8-bit products in 16 bits, which saturate; results would be "
        "wrong for large values");
}

bool multiplies_exactly(const std::string& name) {
  if (is_reference(name)) return false;
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  return has("vnni") || has("amx") || has("gemm");  // gemm takes the best that the machine has
}

void require_one(const Workload& workload, size_t input, const char* what) {
  if (workload.has_input(input) && element_count(workload.input(input).dims) != 1)
    throw UnsupportedError("{} must be one number for oneDNN, got {}", what, to_text(workload.inputs[input]));
}

bool has_zero_point(const Workload& workload, size_t input) {
  return workload.has_input(input) && !workload.input(input).zero;
}

Argument zero_point_argument(PrimitiveProgram& program, const Workload& workload, size_t input, int id, int shift) {
  const Desc desc = describe_plain(DType::i32, {1});
  if (!workload.has_input(input))
    return program.computed(id, workload, {}, desc, [shift](std::span<const std::byte* const>, std::byte* result) {
      const int32_t value = -shift;
      std::memcpy(result, &value, sizeof(value));
    });
  return program.computed(
      id, workload, {input}, desc,
      [shift, dtype = workload.input(input).dtype](std::span<const std::byte* const> inputs, std::byte* result) {
        const int32_t value = read_byte(inputs[0], dtype) - shift;
        std::memcpy(result, &value, sizeof(value));
      });
}

void Requantization::append(dnnl::post_ops& ops, const Workload& workload, const Dims& scale_dims) const {
  ops.append_binary(dnnl::algorithm::binary_mul, describe_plain(DType::f32, scale_dims));
  if (bias != kNone && workload.has_input(bias))
    ops.append_binary(dnnl::algorithm::binary_add, describe_plain(DType::f32, scale_dims));
  if (!rounds) return;
  ops.append_eltwise(1.0F, dnnl::algorithm::eltwise_round, 0, 0);
  if (zero != kNone && has_zero_point(workload, zero))
    ops.append_binary(dnnl::algorithm::binary_add, scalar_like(scale_dims));
}

void Requantization::bind(PrimitiveProgram& program, const Workload& workload, const Dims& scale_dims,
                          std::vector<Argument>& arguments, std::optional<Argument> combined) const {
  const auto post_op = [](int position) { return DNNL_ARG_ATTR_MULTIPLE_POST_OP(position) | DNNL_ARG_SRC_1; };
  const int64_t columns = element_count(scale_dims);
  std::vector<size_t> inputs;
  std::vector<int64_t> counts;
  for (const size_t input : {left, right, result}) {
    if (input == kNone) continue;
    inputs.push_back(input);
    counts.push_back(element_count(workload.input(input).dims));
    if (counts.back() != 1 && counts.back() != columns)
      throw UnsupportedError("{} scales for {} columns", counts.back(), columns);
  }
  // In the order of the operator's definition, since f32 rounds differently in another.
  const auto combine = [columns, counts, factor = factor, divides = result != kNone](
                           std::span<const std::byte* const> scales, std::byte* memory) {
    auto* out = reinterpret_cast<float*>(memory);
    for (int64_t c = 0; c < columns; ++c) {
      float value = factor;
      for (size_t i = 0; i < scales.size(); ++i) {
        const float one = reinterpret_cast<const float*>(scales[i])[counts[i] == 1 ? 0 : c];
        value = divides && i + 1 == scales.size() ? value / one : value * one;
      }
      out[c] = value;
    }
  };
  int position = 0;
  const Desc desc = describe_plain(DType::f32, scale_dims);
  if (combined) {
    combined->id = post_op(position++);
    arguments.push_back(*combined);
  } else {
    arguments.push_back(program.computed(post_op(position++), workload, inputs, desc, combine));
  }
  if (bias != kNone && workload.has_input(bias)) arguments.push_back({post_op(position++), desc, Source::input, bias});
  if (!rounds) return;
  ++position;  // the rounding
  if (zero == kNone || !has_zero_point(workload, zero)) return;
  arguments.push_back(program.computed(
      post_op(position), workload, {zero}, scalar_like(scale_dims),
      [dtype = workload.input(zero).dtype](std::span<const std::byte* const> zeros, std::byte* memory) {
        const auto value = static_cast<float>(read_byte(zeros[0], dtype));
        std::memcpy(memory, &value, sizeof(value));
      }));
}

}  // namespace attune::onednn
