#include "providers/generated/generated_provider.h"

#include "codegen/build_object.h"
#include "codegen/compiler_module.h"
#include "providers/generated/compiled_kernel.h"
#include "providers/generated/generator_hash.h"

#include <algorithm>

namespace attune {
namespace {

constexpr const char* kGeneratorKey = "generator";

/// The generators that serve a workload, or why none does.
struct Serving {
  std::vector<const Generator*> generators;
  std::string reasons;
};

/// Networks have few dims; a model that states a hundred thousand is not worth a loop for each.
constexpr size_t kMostDims = 32;

bool has_many_dims(const Workload& workload) {
  const auto many = [](const std::optional<TensorSpec>& spec) { return spec && spec->dims.size() > kMostDims; };
  return std::ranges::any_of(workload.inputs, many) || std::ranges::any_of(workload.outputs, many);
}

Serving find_serving(const Workload& workload) {
  Serving serving;
  if (has_many_dims(workload)) {
    serving.reasons = fmt::format("a tensor has more than {} dims", kMostDims);
    return serving;
  }
  for (const Generator* generator : generators()) {
    if (const auto refusal = generator->find_refusal(workload))
      serving.reasons += (serving.reasons.empty() ? "" : "; ") + refusal->reason;
    else
      serving.generators.push_back(generator);
  }
  return serving;
}

Serving require_serving(const Workload& workload) {
  Serving serving = find_serving(workload);
  if (serving.generators.empty()) throw UserError("{}", serving.reasons);
  return serving;
}

std::vector<Config> offered_configs(const Serving& serving, const Workload& workload) {
  std::vector<Config> configs;
  for (const Generator* generator : serving.generators)
    for (Config& config : generator->offered(workload)) {
      config[kGeneratorKey] = std::string(generator->name());
      configs.push_back(std::move(config));
    }
  return configs;
}

Space make_space(const Serving& serving, const Workload& workload) {
  Space space;
  std::vector<std::string> names;
  for (const Generator* generator : serving.generators) names.emplace_back(generator->name());
  const Param which = space.categorical(kGeneratorKey, names);
  for (size_t i = 0; i < names.size(); ++i) {
    GeneratorSpace part(space, names.size() > 1 ? std::optional(which == static_cast<int64_t>(i)) : std::nullopt);
    serving.generators[i]->declare(workload, part);
    part.finish();
  }
  space.set_default(offered_configs(serving, workload).front());
  space.build();
  return space;
}

/// The generator of a config; throws UserError for configs that are no point of the space: they come from files too.
const Generator& find_generator(const Workload& workload, const Config& config) {
  const Serving serving = require_serving(workload);
  const auto offered = offered_configs(serving, workload);
  if (std::ranges::find(offered, config) == offered.end())
    if (const std::string problem = make_space(serving, workload).why_invalid(config); !problem.empty())
      throw UserError("generated code has no config '{}' for {}: {}", to_text(config), workload.key(), problem);
  for (const Generator* generator : serving.generators)
    if (config.at(kGeneratorKey) == generator->name()) return *generator;
  throw InternalError("a config of no generator is valid: {}", to_text(config));
}

}  // namespace

std::string GeneratedProvider::environment() const {
  return fmt::format("generators {}, {}, {}", kGeneratorHash, kCompilerVersion, isa_name(usable_isa()));
}

// Object code is in the plan, so it does not matter which compiler there is now, or whether there is one.
std::string GeneratedProvider::plan_environment() const {
  return fmt::format("generators {}, {}", kGeneratorHash, isa_name(usable_isa()));
}

std::string GeneratedProvider::note() const {
  if (!missing_compiler().empty()) return missing_compiler();
  const std::string reason = missing_helper();
  return reason.empty() ? "" : "kernels are compiled in this process, at a cost of some 50 MB: " + reason;
}

std::variant<Offer, Refusal> GeneratedProvider::offer(const Workload& workload) const {
  const Serving serving = find_serving(workload);
  if (serving.generators.empty()) return Refusal{serving.reasons};
  if (!missing_compiler().empty()) return Refusal{missing_compiler()};
  return Offer{offered_configs(serving, workload)};
}

Space GeneratedProvider::space(const Workload& workload) const {
  return make_space(require_serving(workload), workload);
}

GeneratedKernel GeneratedProvider::generate(const Workload& workload, const Config& config) const {
  Config own = config;
  own.erase(kGeneratorKey);
  return find_generator(workload, config).emit(workload, own);
}

std::unique_ptr<Kernel> GeneratedProvider::build(const Workload& workload, const Config& config) const {
  GeneratedKernel kernel = generate(workload, config);
  CompiledObject object = build_object(kernel.source, host_compile_options(), {workload.key(), to_text(config)});
  if (!object.ok()) throw UserError("generated code for {} cannot be built: {}", workload.key(), object.error);
  return std::make_unique<CompiledKernel>(std::move(kernel), object.object);
}

std::unique_ptr<Kernel> GeneratedProvider::build_from_artifact(const Workload& workload, const Config& config,
                                                               std::span<const std::byte> artifact) const {
  return CompiledKernel::from_artifact(generate(workload, config), artifact);
}

}  // namespace attune
