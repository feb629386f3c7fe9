// The internals under names of their own. The public headers declare Session, Tensor and others too, in their inline
// namespace; so this comes before them, and code below it says inner::Tensor or Tensor.
#pragma once

#ifdef ATTUNE_API
#error "include api/inner.h before the public headers"
#endif

#include "graph/tensor.h"
#include "job/function/tune_function.h"
#include "job/operator_dump.h"
#include "runtime/load_session.h"
#include "runtime/plan_file.h"
#include "runtime/session.h"

namespace attune::inner {

using Config = attune::Config;
using DType = attune::DType;
using Dims = attune::Dims;
using Error = attune::Error;
using Expr = attune::Expr;
using InternalError = attune::InternalError;
using NumericMode = attune::NumericMode;
using Outcome = attune::Outcome;
using Param = attune::Param;
using Session = attune::Session;
using SessionMemory = attune::SessionMemory;
using SessionOptions = attune::SessionOptions;
using Space = attune::Space;
using Tensor = attune::Tensor;
using UnsupportedError = attune::UnsupportedError;
using UserError = attune::UserError;
using Value = attune::Value;

inline int dtype_bits(DType dtype) { return bit_width(dtype); }
inline const char* dtype_text(DType dtype) { return attune::dtype_name(dtype).data(); }

}  // namespace attune::inner
