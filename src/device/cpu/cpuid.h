// The CPUID and XGETBV instructions.
#pragma once

#include <cstdint>

namespace attune {

struct CpuidRegisters {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

/// Zeros for a leaf above the highest one: processors answer such a leaf with the data of another.
CpuidRegisters cpuid(uint32_t leaf, uint32_t subleaf = 0);
uint32_t highest_cpuid_leaf(uint32_t range = 0);  // range 0 or 0x80000000

/// The register states that the operating system saves (XCR0); zero without XSAVE.
uint64_t enabled_register_states();

}  // namespace attune
