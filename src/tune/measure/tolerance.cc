#include "tune/measure/tolerance.h"

#include "base/parallel.h"
#include "kernel/reorder.h"
#include "ops/convert.h"
#include "ops/epilogue.h"
#include "ops/registry.h"
#include "tune/measure/conv_grad_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attune::tune {
namespace {

ValueType type_of(const std::optional<TensorSpec>& spec) {
  return spec ? ValueType{spec->dtype, to_shape(spec->dims)} : ValueType{};
}

/// One unit in the last place of the coarsest float among the operands, relative to 1; 0 where all have f32 or more.
double narrow_unit(const Workload& workload) {
  double unit = 0;
  for (const auto* specs : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *specs) {
      if (!spec) continue;
      if (spec->dtype == DType::f16) unit = std::max(unit, 0x1p-11);
      if (spec->dtype == DType::bf16) unit = std::max(unit, 0x1p-8);
      if (is_float(spec->dtype) && bit_width(spec->dtype) <= 8) unit = std::max(unit, 0x1p-2);
    }
  return unit;
}

}  // namespace

double count_flops(const Workload& workload) {
  if (is_reorder(workload)) return 0;
  if (is_conv_grad(workload)) {  // each element of the results' gradient meets each tap of its filter
    const auto elements = [](const TensorSpec& spec) { return static_cast<double>(element_count(spec.dims)); };
    const bool by_data = workload.op == "ConvGradData";
    const TensorSpec &results = workload.input(by_data ? 0 : 1),
                     &filters = by_data ? workload.input(1) : workload.output(0);
    return 2 * elements(results) * elements(filters) / std::max(1.0, static_cast<double>(filters.dims.at(0)));
  }
  const Node node = workload.node();
  const OpDef& op = require_op(node);
  if (op.flops == nullptr) return 0;
  std::vector<ValueType> inputs, outputs;
  for (const auto& spec : workload.inputs) inputs.push_back(type_of(spec));
  for (const auto& spec : workload.outputs) outputs.push_back(type_of(spec));
  return std::max(1.0, op.flops(CostContext(node, inputs, outputs)));
}

ResultTolerance result_tolerance(const Workload& workload, size_t output) {
  const TensorSpec& result = workload.output(output);
  if (!is_float(result.dtype)) {
    const bool rounds =
        workload.op.find("QLinear") != std::string::npos || workload.op.find("Quantize") != std::string::npos;
    return {0, rounds && bit_width(result.dtype) <= 16 ? 1.0 : 0.0};
  }
  const double flops = count_flops(workload);
  if (flops == 0) return {};
  if (result.dtype == DType::f64) return {1e-12, 0};
  const double terms = flops / 2 / std::max(1.0, static_cast<double>(element_count(result.dims)));
  const auto steps = static_cast<double>(parse_epilogue(workload.attributes).size());
  const double of_largest = std::max(1e-5, 0x1p-24 * std::sqrt(terms)) + narrow_unit(workload) * (2 + steps);
  const bool logarithm = workload.op == "LogSoftmax" || workload.op.starts_with("ReduceLogSum");
  return {of_largest, logarithm ? of_largest : 0};
}

namespace {

/// The largest of part(begin, end) over all elements, on all threads.
template <class Part> double largest_of_parts(int64_t count, Part&& part) {
  constexpr int64_t kPart = 1 << 16;
  std::vector<double> largest(static_cast<size_t>((count + kPart - 1) / kPart), 0.0);
  parallel_for(static_cast<int64_t>(largest.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      largest[static_cast<size_t>(i)] = part(i * kPart, std::min(count, (i + 1) * kPart));
  });
  return largest.empty() ? 0 : *std::max_element(largest.begin(), largest.end());
}

/// `got(i)` and `want(i)` are elements as doubles; they may be called from several threads.
template <class Got, class Want>
Comparison compare_elements(int64_t count, const ResultTolerance& tolerance, Got&& got, Want&& want) {
  const double largest = largest_of_parts(count, [&](int64_t begin, int64_t end) {
    double part = 0;
    for (int64_t i = begin; i < end; ++i)
      if (const double value = std::abs(want(i)); std::isfinite(value)) part = std::max(part, value);
    return part;
  });
  const double allowed = tolerance.absolute + tolerance.of_largest * largest;
  const auto error_of = [&](int64_t i) {
    const double g = got(i), w = want(i);
    if (g == w || (std::isnan(g) && std::isnan(w))) return 0.0;
    const double error = std::abs(g - w);
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  };
  const double worst = largest_of_parts(count, [&](int64_t begin, int64_t end) {
    double part = 0;
    for (int64_t i = begin; i < end; ++i) part = std::max(part, error_of(i));
    return part;
  });
  Comparison result;
  result.max_error = largest > 0 ? worst / largest : worst;
  for (int64_t i = 0; worst > allowed && i < count; ++i) {
    if (error_of(i) <= allowed) continue;
    result.difference = fmt::format("element {} of {}: got {}, want {} (largest {}, allowed difference {})", i, count,
                                    got(i), want(i), largest, allowed);
    break;
  }
  return result;
}

/// Without a look at the dtype for each element.
template <class T> Comparison compare_typed(const Tensor& got, const Tensor& want, const ResultTolerance& tolerance) {
  const T *g = got.data<T>(), *w = want.data<T>();
  return compare_elements(
      want.count(), tolerance, [g](int64_t i) { return static_cast<double>(static_cast<float>(g[i])); },
      [w](int64_t i) { return static_cast<double>(static_cast<float>(w[i])); });
}

}  // namespace

Comparison compare_results(const Tensor& got, const Tensor& want, const ResultTolerance& tolerance) {
  if (got.dtype() != want.dtype() || got.dims() != want.dims())
    return {fmt::format("got {}[{}], want {}[{}]", dtype_name(got.dtype()), to_text(got.dims()),
                        dtype_name(want.dtype()), to_text(want.dims())),
            std::numeric_limits<double>::infinity()};
  if (got.dtype() == DType::f32) return compare_typed<float>(got, want, tolerance);
  if (got.dtype() == DType::bf16) return compare_typed<BFloat16>(got, want, tolerance);
  return compare_elements(
      want.count(), tolerance, [&](int64_t i) { return element_as_double(got, i); },
      [&](int64_t i) { return element_as_double(want, i); });
}

}  // namespace attune::tune
