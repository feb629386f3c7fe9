// A generator: writes the text of kernels for a family of workloads. The provider `generated` compiles and runs it.
#pragma once

#include "codegen/source.h"
#include "kernel/provider.h"
#include "providers/generated/generator_space.h"

#include <functional>

namespace attune {

/// Threads that run a kernel together, in groups that meet. Fewer may come; the text then meets nobody.
struct KernelTeam {
  int groups = 1;
  int members = 1;  // of each group
};

/// Text with what the runtime has to know of it.
struct GeneratedKernel {
  GeneratedSource source;
  int64_t task_count = 1;
  int64_t workspace_bytes = 0;     // shared by all tasks
  std::optional<KernelTeam> team;  // one task that a team runs; nothing: tasks that know nothing of each other
  int in_place_input = -1;         // as Kernel::in_place_input
  std::vector<int> taken_over;     // inputs that `prepare` packs, so that run() gets nullptr for them
  std::function<std::vector<Tensor>(std::span<const Tensor* const>)> prepare;  // as Kernel::prepare; may be empty
  /// Throws UserError for contents of inputs that the code must not see, such as indices out of range; may be empty.
  std::function<void(const KernelArguments&)> check;
};

/// Stateless. The same workload and config give the same text, whatever happened before: plans rely on it. Configs hold
/// the generator's own parameters; the provider adds `generator=<name>`.
class Generator {
 public:
  virtual ~Generator() = default;
  virtual std::string_view name() const = 0;
  /// Why it has nothing for the workload; nothing when it has. The other functions are called only then.
  virtual std::optional<Refusal> find_refusal(const Workload& workload) const = 0;
  /// Good ones without search, the default first; points of what declare() declares.
  virtual std::vector<Config> offered(const Workload& workload) const = 0;
  virtual void declare(const Workload& workload, GeneratorSpace& space) const = 0;
  /// `config` is a point of the space. May throw UserError for what no constraint says.
  virtual GeneratedKernel emit(const Workload& workload, const Config& config) const = 0;
};

/// The one list of generators, the preferred first.
std::span<const Generator* const> generators();

}  // namespace attune
