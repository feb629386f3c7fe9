// The inner loops of the attention kernel, compiled once for each instruction set.
#pragma once

#include "providers/native/attention_block.h"

namespace attune::native {

struct AttentionLoops {
  const char* name;
  /// Scratch memory for one block, a multiple of 16 floats.
  int64_t (*workspace_floats)(const AttentionBlock& block);
  void (*attend)(const AttentionBlock& block);
};

extern const AttentionLoops kAttentionBaseline;  // any processor of the architecture
#ifdef __x86_64__
extern const AttentionLoops kAttentionAvx2;    // with FMA
extern const AttentionLoops kAttentionAvx512;  // AVX-512F
#endif

/// The widest that this machine runs.
const AttentionLoops& attention_loops();

}  // namespace attune::native
