// The text of an attention kernel.
#pragma once

#include "codegen/source.h"
#include "kernel/workload.h"
#include "ops/fused_attention.h"

namespace attune::generated {

/// How queries and keys, weights and values are multiplied.
enum class AttentionProducts {
  wide,   // in f32
  pairs,  // of bf16, two at a time, by vectors
  tiles,  // on AMX tiles
};

/// What can be chosen for an attention kernel.
struct AttentionChoice {
  int64_t lanes = 0, tile_rows = 0, tile_vectors = 0;  // the register tile
  int64_t key_block = 0;                               // keys whose scores are held at a time
  int64_t group_tiles = 0;                             // tiles of queries that reuse a panel of keys
  int64_t queries = 0;                                 // of a task
  AttentionProducts products = AttentionProducts::wide;
};

AttentionProblem attention_problem(const Workload& workload);

int64_t attention_tasks(const AttentionProblem& problem, const AttentionChoice& choice);
/// Of each task, on the stack of its thread.
int64_t attention_scratch_bytes(const AttentionProblem& problem, const AttentionChoice& choice);

GeneratedSource emit_attention(const Workload& workload, const AttentionChoice& choice, const std::string& header);

}  // namespace attune::generated
