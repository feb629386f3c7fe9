// Text that row kernels and reductions share: walks over a row of known width, and what combines the lanes of a vector.
#pragma once

#include "codegen/vector/vector_text.h"

#include <functional>

namespace attune::codegen {

/// One vector of a walk: which accumulator it goes to, where it begins, and how many elements it has.
struct RowPlace {
  int accumulator = 0;
  std::string at;     // "i + 16", "752"
  int64_t count = 0;  // less than the lanes: the last, partial vector
};

/// Statements for every vector of a row: a loop over `unroll` vectors at a time, then what is left one by one.
std::string walk_row(int64_t width, int lanes, int unroll, const std::string& indent,
                     const std::function<std::string(const RowPlace&)>& statement);

/// "vf s0 = 0.0f, s1 = 0.0f;"
std::string declare_accumulators(const std::string& name, const std::string& value, int count);
/// "((s0 + s1) + s2)" or with a function "vmax(vmax(s0, s1), s2)".
std::string join_accumulators(const std::string& name, int count, const std::string& function);

/// lane_sum, lane_max, lane_min, lane_product of all lanes, and keep(v, n, other): the first n lanes of v.
std::string lane_functions(int lanes, const std::set<std::string>& names);

}  // namespace attune::codegen
