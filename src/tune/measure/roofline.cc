#include "tune/measure/roofline.h"

#include "base/parallel.h"
#include "device/cpu/cpu_info.h"
#include "kernel/reorder.h"
#include "tune/measure/tolerance.h"

#include <algorithm>

namespace attune::tune {
namespace {

// Winograd with tiles of 6x6 outputs multiplies 64 times where the plain sum does 324 times.
constexpr double kMostFlopsSaved = 5.1;

double rate(const CeilingRates& ceilings, std::initializer_list<std::string_view> ids) {
  double best = 0;
  for (const std::string_view id : ids)
    if (const auto found = ceilings.find(id); found != ceilings.end()) best = std::max(best, found->second);
  return best;
}

double peak(const Workload& workload, const CeilingRates& ceilings) {
  int bits = 64;
  for (const auto& spec : workload.inputs)
    if (spec && (is_float(spec->dtype) || bit_width(spec->dtype) <= 8)) bits = std::min(bits, bit_width(spec->dtype));
  if (bits <= 8) return rate(ceilings, {"f32", "bf16", "amx_bf16", "int8", "amx_int8"});
  if (bits <= 16) return rate(ceilings, {"f32", "bf16", "amx_bf16"});
  return rate(ceilings, {"f32"});
}

bool has_window(const Workload& workload) {
  if (workload.op.find("Conv") == std::string::npos || !workload.has_input(1)) return false;
  const Dims& weights = workload.input(1).dims;
  return std::any_of(weights.begin() + std::min<ptrdiff_t>(2, std::ssize(weights)), weights.end(),
                     [](int64_t extent) { return extent > 1; });
}

}  // namespace

double roofline_ns(const Workload& workload, const CeilingRates& ceilings) {
  const double flops = count_flops(workload) / (has_window(workload) ? kMostFlopsSaved : 1);
  const double peak_rate = peak(workload, ceilings), bandwidth = rate(ceilings, {"l2_read", "read"});
  // What only moves data may leave parts of its inputs unread; what computes reads its activations and writes results.
  double bytes = 0;
  for (const auto& spec : workload.outputs)
    if (spec) bytes += static_cast<double>(storage_bytes(*spec).value_or(0));
  if (flops > 0)
    for (const auto& spec : workload.inputs)
      if (spec && !spec->constant) bytes += static_cast<double>(storage_bytes(*spec).value_or(0));
  const auto l1 = data_cache(cpu_info(), 1);
  const bool beyond_l1 = l1 && bytes > 2.0 * static_cast<double>(l1->size_bytes) * thread_count();
  const double compute_ns = peak_rate > 0 ? flops / peak_rate : 0;
  // A core reads and writes at once, so that bytes may pass at twice the bandwidth of reading.
  const double memory_ns = beyond_l1 && bandwidth > 0 ? bytes / (2 * bandwidth) : 0;
  return std::max(compute_ns, memory_ns);
}

double reachable_ns(const Workload& workload, const CeilingRates& ceilings) {
  double bytes = 0;
  for (const auto* operands : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *operands)
      if (spec) bytes += static_cast<double>(storage_bytes(*spec).value_or(0));
  double cached = 0;
  for (const Cache& cache : cpu_info().caches) cached = std::max(cached, static_cast<double>(cache.size_bytes));
  const double bandwidth = rate(ceilings, {"copy", "read"});
  const double memory_ns = bytes > cached && bandwidth > 0 ? bytes / bandwidth : 0;
  return std::max(roofline_ns(workload, ceilings), memory_ns);
}

}  // namespace attune::tune
