// A plan: the steps that compute a graph for one set of input shapes, with kernels chosen, constants packed and memory
// laid out. Immutable once made; a session runs it.
#pragma once

#include "graph/graph.h"
#include "kernel/provider.h"
#include "ops/infer_graph.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace attune {

using SlotId = int32_t;
inline constexpr SlotId kNoSlot = -1;

/// One piece of storage at run time: a value in one layout.
struct Slot {
  enum class Kind {
    input,     // the caller's tensor
    constant,  // known when the plan was made
    arena,     // at a fixed offset of the run's arena
    output,    // a tensor that is handed to the caller
    dynamic,   // made by its step: the data decide its shape
    view,      // the storage of another slot, or a part of it
  };
  Kind kind = Kind::arena;
  std::string name;  // of the value
  TensorSpec spec;   // dims are meaningless for dynamic slots
  int64_t bytes = 0;
  int64_t offset = 0;         // arena
  int index = 0;              // input, output: position in the graph's list
  Tensor constant;            // constant
  SlotId source = kNoSlot;    // view
  int64_t source_offset = 0;  // view: bytes from the beginning of the source
};

/// What a provider said about a step's workload.
struct Alternative {
  std::string provider;
  std::vector<Config> configs;  // empty: refused
  std::string reason;           // of the refusal
};

struct Step {
  const Node* node = nullptr;  // nullptr: a conversion of layout
  std::string label;           // the node's name, or what is converted
  Workload workload;
  std::string provider;
  Config config;
  std::string reason;  // why this kernel
  std::vector<Alternative> alternatives;
  std::shared_ptr<const Kernel> kernel;  // shared: equal workloads of one graph use one kernel; nullptr: a dynamic step
  std::vector<Tensor> prepared;
  std::vector<SlotId> inputs, outputs;
  std::map<ValueId, SlotId> captures;  // outer values that the node's subgraphs read
  int64_t workspace_offset = 0;
  int64_t tasks = 1;
};

struct Plan {
  std::shared_ptr<const Graph> graph;  // shared: plans for several shapes come from one graph
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<SlotId> inputs, captures, outputs;
  int64_t arena_bytes = 0;

  int64_t constant_bytes() const;  // packed and plain, each storage once
  /// Adds them to a list of storages and their sizes, for sums over several plans.
  void add_constants(std::map<const std::byte*, int64_t>& storages) const;
};

}  // namespace attune
