#include "providers/onednn/tiny_work.h"

#include "base/parallel.h"

#include <algorithm>

namespace attune::onednn {
namespace {

// Chosen by estimate, not tuned: a parallel region should cost a few microseconds on idle cores, and costs much more
// when another program holds one of them.
constexpr double kTinyNs = 5000;
// Assumed speeds of one core, not measured ones.
constexpr double kBytesPerNs = 16, kFlopsPerNs = 50;

double operand_bytes(const Workload& workload) {
  double bytes = 0;
  for (const auto* specs : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *specs)
      if (spec) bytes += static_cast<double>(storage_bytes(*spec).value_or(0));
  return bytes;
}

/// At least the multiplications and additions of a product of the first two operands, whichever axes it sums over: each
/// element of the result sums over at most the second operand without its smallest axis.
double most_flops(const Workload& workload) {
  constexpr std::string_view kNoProducts[] = {"Add", "Sub", "Mul", "Div", "Max", "Min", "Concat", "LayerNormalization"};
  const bool is_product =
      workload.inputs.size() > 1 && workload.has_input(1) &&
      std::find(std::begin(kNoProducts), std::end(kNoProducts), workload.op) == std::end(kNoProducts);
  const auto results = static_cast<double>(element_count(workload.output(0).dims));
  if (!is_product) return 8 * results;
  const Dims& weights = workload.input(1).dims;
  const int64_t smallest = weights.empty() ? 1 : *std::min_element(weights.begin(), weights.end());
  return 2 * results * static_cast<double>(element_count(weights)) /
         static_cast<double>(std::max<int64_t>(1, smallest));
}

}  // namespace

int threads_for(const Workload& workload) {
  if (workload.outputs.empty() || !workload.outputs[0]) return thread_count();
  const double ns = operand_bytes(workload) / kBytesPerNs + most_flops(workload) / kFlopsPerNs;
  return ns < kTinyNs ? 1 : thread_count();
}

}  // namespace attune::onednn
