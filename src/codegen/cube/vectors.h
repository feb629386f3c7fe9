// The vocabulary that generated kernels are written in: vector types, loads and stores of whole and part vectors in f32
// and bf16, and vectorised functions. Written into the head of every kernel, so that it compiles on its own.
#pragma once

#include "graph/dtype.h"

#include <string>

namespace attune::cube {

/// The instructions that a kernel is written for.
struct VectorIsa {
  int lanes = 16;            // floats in a vector: 16 or 8 with AVX-512, 8 with AVX2
  bool native_bf16 = false;  // AVX-512 bf16: rounding and pairwise products
  bool masks = true;         // AVX-512: masked loads and stores of either width, and twice the registers
};

/// Types `vf` (floats), `vi` (integers), `bf16` (its bits), `vh` (bits of as many bf16 as a `vf` has floats); functions
/// `load<N>(pointer)`, `store<N>(pointer, vf)` of the first N lanes in either type, `load_halves<N>(pointer)` and
/// `store<N>(pointer, vh)` of bf16 as they are, `narrow(vf)`, `widen(vh)`, `store_past_cache(pointer, vf)` of all lanes
/// at a place that is a multiple of them, `first_lanes<N>(vf)` with zeros after them, `splat(float)`.
std::string vector_vocabulary(const VectorIsa& isa);

/// The name of an element type in kernel text; f32 and bf16 only.
std::string_view element_name(DType dtype);

}  // namespace attune::cube
