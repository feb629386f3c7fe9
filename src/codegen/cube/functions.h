// Vectorised elementary functions as text, for the steps of an epilogue.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace attune::cube {

/// Definitions of the named functions (exp, sigmoid, tanh, erf, log1p of arguments in [0, 1]) and of those they call.
/// Errors, against double: exp 2 ulp; sigmoid, tanh, log1p 4 ulp; erf 3e-7 absolute.
std::string function_definitions(const std::set<std::string_view>& names);

}  // namespace attune::cube
