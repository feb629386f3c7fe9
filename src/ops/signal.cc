// DFT, STFT, window functions and the mel filter bank.
#include "ops/families.h"
#include "ops/signal_parts.h"

namespace attune {

Dim inferred_scalar(const InferContext& context, int i) {
  const auto content = context.content(i);
  if (!content) return Dim::unknown();
  if (content->size() != 1) context.fail("input {} has {} elements, expected a scalar", i, content->size());
  return content->front();
}

int64_t scalar_int(const KernelContext& context, int i) {
  const auto values = context.ints(i);
  if (values.size() != 1) context.fail("input {} has {} elements, expected a scalar", i, values.size());
  return values.front();
}

namespace {

constexpr OpDef window(std::string_view name, void (*kernel)(KernelContext&)) {
  return {.domain = "",
          .name = name,
          .since = 17,
          .inputs = {1, 1},
          .outputs = {1, 1},
          .layout_class = LayoutClass::decides_function,
          .infer = infer_window,
          .kernel = kernel,
          .flops = elementwise_flops};
}

}  // namespace

std::span<const OpDef> signal_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .name = "DFT",
       .since = 17,
       .inputs = {1, 3},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_dft,
       .kernel = run_dft,
       .flops = dft_flops},
      {.domain = "",
       .name = "STFT",
       .since = 17,
       .inputs = {2, 4},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_stft,
       .kernel = run_stft,
       .flops = stft_flops},
      window("HannWindow", run_hann_window),
      window("HammingWindow", run_hamming_window),
      window("BlackmanWindow", run_blackman_window),
      {.domain = "",
       .name = "MelWeightMatrix",
       .since = 17,
       .inputs = {5, 5},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_mel_weight_matrix,
       .kernel = run_mel_weight_matrix,
       .flops = elementwise_flops},
  };
  return ops;
}

}  // namespace attune
