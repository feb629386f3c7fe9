// The program of attune::FusedVector as text over vectors: a function for each step, and statements that call them.
#pragma once

#include "codegen/vector/map_kernel.h"
#include "kernel/provider.h"
#include "ops/vector_program.h"

namespace attune::generated {

/// What vector_chain and vector_chain_rows write their kernels from.
struct ChainText {
  VectorProgram program;
  std::string definitions;
  std::set<std::string> functions;
  bool rounds_to_bf16 = false;
  std::vector<std::string> statements;  // of each step: "const vf t1 = step1(t0, x2);"; empty for one on rows
  std::vector<std::vector<int>> needs;  // steps that each reads
  std::vector<std::set<int>> inputs;    // that each reads
};

bool is_chain(const Workload& workload);

/// A refusal for workloads that are no chain, for steps without text, and for element types that vectors do not have.
std::variant<ChainText, Refusal> write_chain(const Workload& workload);

/// Inputs of the workload as a map reads them, with those of bools.
std::vector<codegen::MapInput> chain_inputs(const Workload& workload);

}  // namespace attune::generated
