// Text of kernels that compute each output element from the elements at its place in the inputs, which may broadcast.
#pragma once

#include "codegen/source.h"
#include "codegen/vector/loop_nest.h"
#include "codegen/vector/vector_text.h"

namespace attune::codegen {

/// What becomes of one vector of each input: statements over x0, x1, … that declare what they need, and the result.
struct VectorExpression {
  std::vector<std::string> statements;       // "const vf t0 = x0 + x1;"
  std::string result;                        // "vgelu_erf(t0)"
  std::vector<std::string> further_results;  // of the outputs after the first
  std::set<std::string> functions;           // that the text uses
  std::string definitions;                   // of functions of its own
  bool rounds_to_bf16 = false;               // whatever the elements of inputs and outputs are
};

/// One input of a map: where it stands among the workload's inputs.
struct MapInput {
  Element element = Element::f32;
  int position = 0;
};

struct MapKernel {
  LoopNest nest;  // simplified; strides of the inputs in order, then of the output, whose innermost one is 1
  std::vector<MapInput> inputs;
  Element output = Element::f32;
  std::vector<Element> further_outputs;  // which lie as the first does
  VectorExpression expression;
};

enum class Stores { cached, past_cache };

struct MapConfig {
  int lanes = 16;
  int unroll = 2;
  int64_t task_elements = 16384;
  Stores stores = Stores::cached;
};

/// Whether the innermost loop moves every input by one element or not at all: what the vectors need.
bool has_vector_rows(const MapKernel& kernel);
/// Whether stores past the cache, which need aligned vectors, are possible.
bool can_store_past_cache(const MapKernel& kernel, int lanes);

int64_t map_task_count(const MapKernel& kernel, const MapConfig& config);
GeneratedSource emit_map(const MapKernel& kernel, const MapConfig& config, Isa isa, const std::string& header);

}  // namespace attune::codegen
