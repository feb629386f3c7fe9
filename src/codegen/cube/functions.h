// Vectorised elementary functions as text, for the steps of an epilogue.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace attune::cube {

/// Definitions of the named functions (bounded_exp, exp, sigmoid, tanh, erf, log1p of arguments in [0, 1]) and of those
/// they call. Errors, against double: bounded_exp, sigmoid and log1p 2 ulp; exp and tanh 3 ulp; erf 6e-7 absolute.
std::string function_definitions(const std::set<std::string_view>& names);

}  // namespace attune::cube
