#include "device/cpu/cpuid.h"

#include <cpuid.h>

namespace attune {

uint32_t highest_cpuid_leaf(uint32_t range) {
  CpuidRegisters r;
  __cpuid(range, r.eax, r.ebx, r.ecx, r.edx);
  return (r.eax & 0x80000000) == range ? r.eax : 0;
}

CpuidRegisters cpuid(uint32_t leaf, uint32_t subleaf) {
  CpuidRegisters r;
  if (highest_cpuid_leaf(leaf & 0x80000000) < leaf) return r;
  __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
  return r;
}

uint64_t enabled_register_states() {
  constexpr uint32_t kOsXsave = 1u << 27;
  if ((cpuid(1).ecx & kOsXsave) == 0) return 0;
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

}  // namespace attune
