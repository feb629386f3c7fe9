// The instruction sets that generated code is written for, each including those before it.
#pragma once

#include <optional>
#include <string_view>

namespace attune {

enum class Isa {
  baseline,     // SSE2, which every x86-64 processor has
  avx2,         // with FMA
  avx512,       // F, BW, CD, DQ, VL
  avx512_bf16,  // dot products and conversions
  amx,          // bf16 and int8 tiles
};

std::string_view isa_name(Isa isa);
std::optional<Isa> parse_isa(std::string_view name);

/// The widest that this process may use; tile registers have been asked for.
Isa detected_isa();

/// The widest that generated code shall use: what was detected, or less where the environment variable ATTUNE_MAX_ISA
/// names less. Throws UserError for a name that is none.
Isa usable_isa();

}  // namespace attune
