// Blocks that the transformers of the zoo share.
#pragma once

#include "zoo/builder.h"

namespace attune::zoo {

inline constexpr double kTransformerDeviation = 0.02;  // of weights, as published for BERT, GPT-2 and ViT
// Added to or put in place of scores that must not count. Lower numbers than this overflow in half precision.
inline constexpr float kMaskedScore = -10'000;

/// MatMul with weights [in, out], the transpose of what PyTorch stores, and Add.
ValueId dense(GraphBuilder& b, std::string_view module, ValueId x, int64_t in, int64_t out);
/// Gemm with weights [out, in] on a matrix.
ValueId dense_2d(GraphBuilder& b, std::string_view module, ValueId x, int64_t in, int64_t out);
ValueId layer_norm(GraphBuilder& b, std::string_view module, ValueId x, int64_t width, float epsilon);

ValueId gelu_erf(GraphBuilder& b, ValueId x);
ValueId gelu_tanh(GraphBuilder& b, ValueId x);

}  // namespace attune::zoo
