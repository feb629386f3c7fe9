#include "runtime/kernel_choice.h"

#include "base/memory.h"
#include "runtime/accuracy_check.h"
#include "runtime/generated_rule.h"
#include "runtime/winograd_rule.h"

namespace attune {
namespace {

bool is_batch_reduce(const Config& config) {
  const auto impl = config.find("impl");
  return impl != config.end() && impl->second.starts_with("brg");
}

/// The library's batch-reduce kernels cannot read a residual beside the result, but can add to one that is there; they
/// are worth that where nothing else of their kind is left.
void prefer_batch_reduce(KernelChoice& choice, const std::vector<Config>& configs) {
  if (is_batch_reduce(choice.config)) return;
  for (const Config& config : configs)
    if (is_batch_reduce(config) && config.count("residual") > 0) {
      choice.config = config;
      choice.reason = "adds the residual in place, so that a batch-reduce kernel serves";
      return;
    }
}

/// A config that a rule prefers to the default of its provider, with the reason.
void prefer_by_rule(const Workload& workload, KernelChoice& choice, const std::vector<Config>& configs) {
  if (workload.op != "Conv" && workload.op != "FusedConv") return;
  prefer_batch_reduce(choice, configs);
  if (workload.input(0).dtype != DType::f32 || !winograd_pays(workload)) return;
  for (const Config& config : configs) {
    const auto algorithm = config.find("algorithm");
    if (algorithm == config.end() || algorithm->second != "winograd") continue;
    if (workload.mode == NumericMode::high_precision) {
      const double error = measured_error(workload, *choice.provider, config);
      return_freed_memory();  // the reference computes in doubles
      if (!(error <= kHighPrecisionError)) continue;
      choice.reason = fmt::format("winograd with {} channels; measured error {:.1e} of the largest output",
                                  workload.input(1).dims[1], error);
    } else {
      choice.reason = "winograd";
    }
    choice.config = config;
    return;
  }
}

/// Compiling a kernel takes as long as the reference needs for many runs of small work.
bool is_worth_compiling(const Workload& workload) {
  constexpr int64_t kSmallestBytes = 64 << 10;
  int64_t bytes = 0;
  for (const auto* specs : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *specs) bytes += spec ? storage_bytes(*spec).value_or(0) : 0;
  return bytes >= kSmallestBytes;
}

}  // namespace

KernelChoice choose_kernel(const Workload& workload, std::span<const Provider* const> providers) {
  KernelChoice choice;
  for (const Provider* provider : providers) {
    const auto answer = provider->offer(workload);
    Alternative alternative;
    alternative.provider = std::string(provider->name());
    if (const auto* refusal = std::get_if<Refusal>(&answer)) {
      alternative.reason = refusal->reason;
    } else {
      alternative.configs = std::get<Offer>(answer).configs;
      // The compiler takes a hundred megabytes the first time, which only those get who ask for generated kernels, or
      // gain from them by the rule below.
      const bool asked = provider == providers.front() || only_generated_serves(workload);
      const bool waits = provider->name() == "generated" && (!asked || !is_worth_compiling(workload));
      if (choice.provider == nullptr && !alternative.configs.empty() && !waits) {
        choice.provider = provider;
        choice.config = alternative.configs.front();
        choice.reason = fmt::format("default of {}", provider->name());
        prefer_by_rule(workload, choice, alternative.configs);
      }
    }
    const bool better = provider->name() == "generated" && choice.provider != nullptr && choice.provider != provider &&
                        !alternative.configs.empty() && generated_pays(workload, alternative.configs.front());
    if (better && is_worth_compiling(workload)) {
      choice.provider = provider;
      choice.config = alternative.configs.front();
      choice.reason = "generated kernels are faster for convolutions of this kind";
    }
    choice.alternatives.push_back(std::move(alternative));
  }
  return choice;
}

}  // namespace attune
