// Vectorised elementary functions as text, for the steps of an epilogue.
#pragma once

#include "codegen/cube/vectors.h"

#include <set>
#include <string>
#include <string_view>

namespace attune::cube {

/// How close functions come: as f32 has digits, or as bf16 has, where results are rounded to it.
enum class Accuracy : uint8_t { f32, bf16 };

/// Definitions of the named functions (bounded_exp, exp, sigmoid, tanh, gelu_erf, gelu_tanh, log1p of arguments in
/// [0, 1]) and of those they call, after vector_vocabulary(isa). Errors, against double
/// (tests/codegen/cube_functions_test.cc):
///
///   f32   bounded_exp and log1p 2e-7 of the result, exp (to e^87) 3e-6, sigmoid 3e-7, tanh 5e-7;
///         gelu_erf 3e-7 of x, gelu_tanh 6e-7 of x
///   bf16  with AVX-512 sigmoid 2e-4 of the result, tanh 4e-4, gelu_erf and gelu_tanh 2e-3 down to x = -5 and 2e-6
///         below; all else as f32. Half of a unit in bf16's last place is 2e-3 to 4e-3.
std::string function_definitions(const std::set<std::string_view>& names, const VectorIsa& isa, Accuracy accuracy);

}  // namespace attune::cube
