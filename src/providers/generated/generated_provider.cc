#include "providers/generated/generated_provider.h"

#include "codegen/build_object.h"
#include "codegen/compiler_module.h"
#include "providers/generated/compiled_kernel.h"
#include "providers/generated/generator_hash.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace attune {
namespace {

constexpr const char* kGeneratorKey = "generator";
constexpr size_t kMostOffered = 4;

Config default_of(const Generator& generator, const std::vector<Choice>& choices) {
  Config config{{kGeneratorKey, std::string(generator.name())}};
  for (const Choice& choice : choices) config[choice.name] = choice.values.front();
  return config;
}

/// The default and, as a sample of what there is, those that differ from it in one value.
void add_configs(const Generator& generator, const Workload& workload, std::vector<Config>& configs) {
  const auto choices = generator.choices(workload);
  const Config usual = default_of(generator, choices);
  configs.push_back(usual);
  size_t added = 1;
  for (const Choice& choice : choices) {
    if (choice.values.size() < 2 || added++ == kMostOffered) continue;
    configs.push_back(usual);
    configs.back()[choice.name] = choice.values.back();
  }
}

/// Configs come from files as well as from offers.
void check_config(const Generator& generator, const Workload& workload, const Config& config) {
  const auto choices = generator.choices(workload);
  for (const Choice& choice : choices) {
    const auto found = config.find(choice.name);
    if (found == config.end() || std::ranges::find(choice.values, found->second) == choice.values.end())
      throw UserError("'{}' is no config of generator {} for {}: {} must be one of {}", to_text(config),
                      generator.name(), workload.key(), choice.name, fmt::join(choice.values, ", "));
  }
  if (config.size() != choices.size() + 1)
    throw UserError("'{}' has parameters that generator {} does not know", to_text(config), generator.name());
}

const Generator& find_generator(const Workload& workload, const Config& config) {
  const auto named = config.find(kGeneratorKey);
  for (const Generator* generator : generators()) {
    if (named == config.end() || named->second != generator->name()) continue;
    if (const auto refusal = generator->find_refusal(workload)) throw UserError("{}", refusal->reason);
    check_config(*generator, workload, config);
    return *generator;
  }
  throw UserError("'{}' names no generator of {}", to_text(config), workload.key());
}

}  // namespace

std::string GeneratedProvider::environment() const {
  return fmt::format("generators {}, {}, {}", kGeneratorHash, kCompilerVersion, isa_name(usable_isa()));
}

std::variant<Offer, Refusal> GeneratedProvider::offer(const Workload& workload) const {
  if (find_compiler().compiler == nullptr) return Refusal{find_compiler().problem};
  Offer offer;
  std::string reasons;
  for (const Generator* generator : generators()) {
    if (const auto refusal = generator->find_refusal(workload))
      reasons += (reasons.empty() ? "" : "; ") + refusal->reason;
    else
      add_configs(*generator, workload, offer.configs);
  }
  if (offer.configs.empty()) return Refusal{reasons};
  return offer;
}

std::unique_ptr<Kernel> GeneratedProvider::build(const Workload& workload, const Config& config) const {
  const Generator& generator = find_generator(workload, config);
  GeneratedKernel kernel = generator.emit(workload, config);
  CompiledObject object = build_object(kernel.source, host_compile_options(),
                                       {workload.key(), to_text(config), std::string(generator.name())});
  if (!object.ok()) throw UserError("generated code for {} does not compile: {}", workload.key(), object.error);
  return std::make_unique<CompiledKernel>(std::move(kernel), std::move(object.object));
}

}  // namespace attune
