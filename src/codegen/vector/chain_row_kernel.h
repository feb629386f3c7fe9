// Text of kernels that compute rows by elementwise statements, look at each row as a whole (softmax or a
// normalisation), and go on with further statements. A row is held in a buffer meanwhile.
#pragma once

#include "codegen/vector/row_kernel.h"

#include <set>

namespace attune::codegen {

/// Statements over x0, x1, … and t0, t1, …, with the inputs that they read.
struct ChainPart {
  std::vector<std::string> statements;
  std::set<int> inputs;
};

struct ChainRowKernel {
  /// What is written; the stage in which its value is there.
  struct Output {
    enum class Stage { before, after };
    Element element = Element::f32;
    std::string value;  // "t3"
    Stage stage = Stage::after;
  };

  RowKernel::Kind kind = RowKernel::Kind::softmax;
  LoopNest nest;  // strides of the inputs, then of the outputs; the innermost loop is the row
  std::vector<MapInput> inputs;
  std::vector<Output> outputs;
  ChainPart before;                 // up to what the row is made of
  std::string row;                  // "t1": that
  std::string result;               // "t2": what the statements after it call the result
  ChainPart after;                  // what is needed of `before` again, and the rest
  std::optional<int> scale, shift;  // inputs with a number for each place of the row
  float epsilon = 0;
  std::set<std::string> functions;
  std::string definitions;
  bool rounds_to_bf16 = false;
};

/// The longest row that the buffer is made for.
inline constexpr int64_t kLongestChainRow = 8192;

bool can_store_past_cache(const ChainRowKernel& kernel, int lanes);
int64_t chain_row_task_count(const ChainRowKernel& kernel, const RowConfig& config);
GeneratedSource emit_chain_rows(const ChainRowKernel& kernel, const RowConfig& config, Isa isa,
                                const std::string& header);

}  // namespace attune::codegen
