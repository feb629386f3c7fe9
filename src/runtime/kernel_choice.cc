#include "runtime/kernel_choice.h"

#include "base/memory.h"
#include "runtime/accuracy_check.h"
#include "runtime/generated_rule.h"
#include "runtime/winograd_rule.h"

#include <algorithm>
#include <utility>

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

/// The error of a Winograd configuration on the smallest sample that its provider has it for. Generated ones have
/// blocks that suit the maps, so the one of the same transforms is taken. Nothing where the kernel cannot be built.
std::optional<double> winograd_error(const Workload& workload, const Provider& provider, const Config& config) try {
  const Workload one = one_image(workload);
  for (const Workload& sample : {small_maps(one), one}) {
    const auto answer = provider.offer(sample);
    if (const auto* offer = std::get_if<Offer>(&answer))
      for (const Config& other : offer->configs)
        if (other == config || (is_winograd(other) && other.count("winograd_output") > 0 &&
                                other.at("winograd_output") == config.at("winograd_output")))
          return measured_error(sample, provider, other);
  }
  return measured_error(workload, provider, config);
} catch (const UserError&) {
  return std::nullopt;
}

/// Winograd's convolution instead of a direct one, where it pays and the numeric mode admits its error: the generated
/// kernel, which takes any epilogue and was the faster one wherever both were measured, or else the library's.
void prefer_winograd(const Workload& workload, KernelChoice& choice, std::span<const Provider* const> providers) {
  if (choice.provider == nullptr || choice.provider->name() == "reference" || is_winograd(choice.config) ||
      (workload.op != "Conv" && workload.op != "FusedConv") || workload.input(0).dtype != DType::f32)
    return;
  std::vector<std::pair<const Provider*, const Config*>> candidates;
  for (size_t i = 0; i < providers.size(); ++i)
    for (const Config& config : choice.alternatives[i].configs)
      if (is_winograd(config) && winograd_pays(workload, *providers[i])) candidates.emplace_back(providers[i], &config);
  std::stable_partition(candidates.begin(), candidates.end(),
                        [](const auto& one) { return one.first->name() == "generated"; });
  for (const auto& [provider, config] : candidates) {
    std::string reason = "winograd";
    if (workload.mode == NumericMode::high_precision) {
      const auto error = winograd_error(workload, *provider, *config);
      return_freed_memory();  // the reference computes in doubles
      if (!error || !(*error <= kHighPrecisionError)) continue;
      reason = fmt::format("winograd with {} channels; measured error {:.1e} of the largest output",
                           workload.input(1).dims[1], *error);
    }
    choice.provider = provider;
    choice.config = *config;
    choice.reason = std::move(reason);
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

KernelChoice choose_kernel(const Workload& workload, std::span<const Provider* const> providers, InputShapes shapes) {
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
        if (workload.op == "Conv" || workload.op == "FusedConv") prefer_batch_reduce(choice, alternative.configs);
      }
    }
    const bool better = provider->name() == "generated" && choice.provider != nullptr && choice.provider != provider &&
                        !alternative.configs.empty() && generated_pays(workload, alternative.configs.front(), shapes);
    if (better && is_worth_compiling(workload)) {
      choice.provider = provider;
      choice.config = alternative.configs.front();
      choice.reason = "generated kernels are faster for operators of this kind";
    }
    choice.alternatives.push_back(std::move(alternative));
  }
  prefer_winograd(workload, choice, providers);
  return choice;
}

}  // namespace attune
