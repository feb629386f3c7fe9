// Loops over the elements of operands: how many times each runs and how far each operand moves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attune::codegen {

struct Loop {
  int64_t extent = 1;
  std::vector<int64_t> strides;  // in elements, one for each operand; 0: the operand is repeated
};

struct LoopNest {
  std::vector<Loop> loops;  // the outermost first
};

/// The loops that are left when those of one iteration are dropped, the rest is ordered as operand `leader` lies in
/// memory (its smallest stride innermost), and neighbours that every operand walks without a gap are joined. At least
/// one remains.
LoopNest simplify(LoopNest nest, size_t leader);

int64_t iterations(const LoopNest& nest);
/// Of the loops but the `inner` innermost ones.
int64_t outer_iterations(const LoopNest& nest, size_t inner);

/// Text that declares `p<k>` for each name in `pointers`, moved from it to the row of number `row`, and nothing for
/// loops that do not move it:
///
///   const long i1 = row % 5, i0 = row / 5;
///   const float* p0 = src + i0 * 35 + i1 * 7;
///
/// `pointers[k]` is {type, base, name} of operand k; an empty name is skipped.
struct RowPointer {
  std::string type, base, name;
};
std::string row_pointers(const LoopNest& nest, size_t inner, const std::vector<RowPointer>& pointers,
                         const std::string& indent);

}  // namespace attune::codegen
