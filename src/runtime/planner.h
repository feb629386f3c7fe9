// Makes plans: chooses layouts and kernels by rule, without measuring, and lays out memory.
#pragma once

#include "kernel/provider.h"
#include "runtime/advisor.h"
#include "runtime/input_shapes.h"
#include "runtime/kernel_choice.h"
#include "runtime/layout_choice.h"
#include "runtime/plan.h"

#include <map>
#include <mutex>
#include <set>
#include <span>

namespace attune {

/// A step as an earlier plan had it: what to build without asking anyone, and the constants it packed.
struct RecordedStep {
  std::string workload_key;
  Layout layout = Layout::plain;
  std::string provider;
  Config config;
  std::string reason;
  std::vector<Alternative> alternatives;
  std::vector<Tensor> prepared;
  Tensor artifact;  // of the kernel; empty() where it has none
};
using RecordedSteps = std::map<std::string, RecordedStep>;  // by label

struct PlanOptions {
  std::vector<const Provider*> providers;  // in order of preference
  NumericMode mode = NumericMode::high_precision;
  std::set<std::string, std::less<>> mode_operators;  // that `mode` is for, others being high_precision; empty: all
  LayoutChoice layout = LayoutChoice::automatic;
  std::map<std::string, Layout, std::less<>> node_layouts;  // of convolutions, by name: instead of that
  int64_t memory_limit_bytes = 0;                           // of arena and constants; 0: none
  RecordedSteps recorded;                                   // used for the steps whose workload is the same
  InputShapes input_shapes = InputShapes::fixed;
  std::shared_ptr<const Advisor> advisor;  // shared: sessions of bodies ask it too; nullptr: rules decide

  NumericMode mode_of(const Node& node) const;
};

/// Kernels and packed constants that plans of one graph share: another batch size packs no weight twice.
class PlanCache {
 public:
  /// What the advisor says, where its kernel can be built, else choose_kernel; remembered.
  const KernelChoice& choice(const Workload& workload, const PlanOptions& options);
  /// `artifact`: of this kernel, from a plan; may be empty.
  std::shared_ptr<const Kernel> kernel(const Workload& workload, const Provider& provider, const Config& config,
                                       std::span<const std::byte> artifact = {});

 private:
  KernelChoice choose(const Workload& workload, const PlanOptions& options);

  std::mutex mutex_;
  std::map<std::string, KernelChoice> choices_;
  std::map<std::string, std::shared_ptr<const Kernel>> kernels_;  // shared: plans keep them alive
};

/// Types and known contents of the graph's inputs and captures, and everything inferred from them.
Plan make_plan(std::shared_ptr<const Graph> graph, const GraphFacts& facts, const PlanOptions& options,
               PlanCache& cache);

}  // namespace attune
