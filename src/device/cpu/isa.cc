#include "device/cpu/isa.h"

#include "device/cpu/amx.h"
#include "device/cpu/cpuid.h"

#include <algorithm>

namespace attune {
namespace {

// Bits of XCR0 that must be set before the registers of an instruction set may be used.
constexpr uint64_t kNone = 0;
constexpr uint64_t kYmm = 0x6;       // SSE and AVX state
constexpr uint64_t kZmm = 0xE6;      // and masks, upper halves, upper registers
constexpr uint64_t kTile = 0x60000;  // tile configuration and data

struct IsaBit {
  std::string_view name;
  uint32_t leaf, subleaf;
  uint32_t CpuidRegisters::*word;
  int bit;
  uint64_t register_states;
};

constexpr IsaBit kIsaBits[] = {
    {"sse4_2", 1, 0, &CpuidRegisters::ecx, 20, kNone},     {"avx", 1, 0, &CpuidRegisters::ecx, 28, kYmm},
    {"f16c", 1, 0, &CpuidRegisters::ecx, 29, kYmm},        {"fma", 1, 0, &CpuidRegisters::ecx, 12, kYmm},
    {"avx2", 7, 0, &CpuidRegisters::ebx, 5, kYmm},         {"avx_vnni", 7, 1, &CpuidRegisters::eax, 4, kYmm},
    {"avx512f", 7, 0, &CpuidRegisters::ebx, 16, kZmm},     {"avx512dq", 7, 0, &CpuidRegisters::ebx, 17, kZmm},
    {"avx512bw", 7, 0, &CpuidRegisters::ebx, 30, kZmm},    {"avx512vl", 7, 0, &CpuidRegisters::ebx, 31, kZmm},
    {"avx512_vnni", 7, 0, &CpuidRegisters::ecx, 11, kZmm}, {"avx512_bf16", 7, 1, &CpuidRegisters::eax, 5, kZmm},
    {"avx512_fp16", 7, 0, &CpuidRegisters::edx, 23, kZmm}, {"amx_tile", 7, 0, &CpuidRegisters::edx, 24, kTile},
    {"amx_bf16", 7, 0, &CpuidRegisters::edx, 22, kTile},   {"amx_int8", 7, 0, &CpuidRegisters::edx, 25, kTile},
};

bool advertised(const IsaBit& isa) { return (cpuid(isa.leaf, isa.subleaf).*isa.word >> isa.bit & 1) != 0; }

bool advertised(std::string_view name) {
  return std::any_of(std::begin(kIsaBits), std::end(kIsaBits),
                     [&](const IsaBit& isa) { return isa.name == name && advertised(isa); });
}

}  // namespace

std::vector<IsaState> detect_isa() {
  const uint64_t enabled = enabled_register_states();
  const bool amx = advertised("amx_tile") && (enabled & kTile) == kTile &&
                   try_amx({.bf16 = advertised("amx_bf16"), .int8 = advertised("amx_int8")});
  std::vector<IsaState> result;
  for (const IsaBit& isa : kIsaBits) {
    IsaState state{.name = isa.name, .in_cpu = advertised(isa)};
    state.usable =
        state.in_cpu && (enabled & isa.register_states) == isa.register_states && (isa.register_states != kTile || amx);
    result.push_back(state);
  }
  return result;
}

bool amx_palette_hidden() {
  constexpr uint32_t kPaletteLeaf = 0x1D;
  return advertised("amx_tile") && cpuid(kPaletteLeaf).eax == 0;
}

}  // namespace attune
