// The vocabulary of generated vector kernels: vectors of floats, loads and stores of element types, and functions on
// them with stated errors. Every piece is C++ text; a kernel's text holds those that it uses.
#pragma once

#include "codegen/isa.h"

#include <set>
#include <string>
#include <vector>

namespace attune::codegen {

/// Element types in memory; all are computed as f32.
enum class Element { f32, bf16, boolean };
std::string_view element_c_type(Element element);  // "float", "unsigned short"
int64_t element_bytes(Element element);

/// Lanes of f32 in the widest register of an instruction set: 4, 8, 16.
int widest_lanes(Isa isa);
/// The numbers of lanes that are worth trying, the widest first.
std::vector<int> lane_choices(Isa isa);

/// Types `vf`, `vi`, `vu` of `lanes` elements, and load, store, load_part, store_part for the elements.
std::string vector_types(Isa isa, int lanes, const std::set<Element>& elements);

/// Definitions of the functions named and of those that they use, in order; throws InternalError for unknown names.
/// Errors against the exact function, over all finite arguments (tests/codegen/vector_math_test.cc):
///
///   vexp     e^x      2e-7 of the result; 0 below -87.3, infinity above 88.7
///   vexp_within  the same for x in [-87, 87] alone, vexp_below for x <= 0
///   vexpm1   e^x - 1  3e-7 of the result
///   vlog     ln x     2e-7 of the result, 1e-7 absolutely near 1
///   vtanh    tanh x   5e-7 of the result
///   verf     erf x    4e-7 of the result
///   vgelu_*  gelu x   4e-7 of x
///   others   are made of those
std::string vector_functions(const std::set<std::string>& names);

}  // namespace attune::codegen
