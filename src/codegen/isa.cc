#include "codegen/isa.h"

#include "base/error.h"
#include "device/cpu/amx.h"
#include "device/cpu/cpu_info.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>

namespace attune {
namespace {

constexpr std::array<std::string_view, 5> kNames{"baseline", "avx2", "avx512", "avx512_bf16", "amx"};

Isa detect() {
  const CpuInfo& cpu = cpu_info();
  const auto has = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::all_of(names, [&](std::string_view name) { return has_isa(cpu, name); });
  };
  if (!has({"avx2", "fma", "f16c"})) return Isa::baseline;
  if (!has({"avx512f", "avx512bw", "avx512dq", "avx512vl"})) return Isa::avx2;
  if (!has({"avx512_bf16"})) return Isa::avx512;
  return has({"amx_tile", "amx_bf16"}) && request_amx() ? Isa::amx : Isa::avx512_bf16;
}

}  // namespace

std::string_view isa_name(Isa isa) { return kNames[static_cast<size_t>(isa)]; }

std::optional<Isa> parse_isa(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Isa>(found - kNames.begin());
}

Isa detected_isa() {
  static const Isa isa = detect();
  return isa;
}

Isa usable_isa() {
  const char* text = std::getenv("ATTUNE_MAX_ISA");
  if (text == nullptr || *text == '\0') return detected_isa();
  const auto limit = parse_isa(text);
  if (!limit) throw UserError("ATTUNE_MAX_ISA is '{}', expected baseline, avx2, avx512, avx512_bf16 or amx", text);
  return std::min(*limit, detected_isa());
}

}  // namespace attune
