// Checks of inputs in shape inference. An undefined dtype (not inferred yet) passes.
#pragma once

#include "ops/context.h"

namespace attune {

bool is_plain_float(DType dtype);    // f64 f32 f16 bf16
bool is_plain_integer(DType dtype);  // 8 to 64 bits
bool is_plain_numeric(DType dtype);  // the two together

/// Fails when a required input behind an optional one is omitted.
void require_input(const InferContext& context, int input);
void require_plain_float(const InferContext& context, int input);
void require_plain_integer(const InferContext& context, int input);
void require_plain_numeric(const InferContext& context, int input);
void require_bool(const InferContext& context, int input);
/// The dtype that inputs [first, last) share, omitted ones aside; fails when they differ.
DType shared_dtype(const InferContext& context, int first, int last);

}  // namespace attune
