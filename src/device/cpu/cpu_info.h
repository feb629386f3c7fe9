// What the processor of this machine is and what this process may use of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// An instruction set and whether it can be used: the processor has it, and the operating system keeps its registers.
struct IsaState {
  std::string_view name;  // as in /proc/cpuinfo: "avx512_bf16"
  bool in_cpu = false;
  bool usable = false;
};

enum class CacheType { data, instruction, unified };

struct Cache {
  int level = 0;
  CacheType type = CacheType::data;
  int64_t size_bytes = 0;
  int line_bytes = 0;
  int ways = 0;
  int shared_by = 0;  // logical processors
};

struct CpuInfo {
  std::string vendor;  // "GenuineIntel", "AuthenticAMD"
  std::string brand;
  int family = 0;
  int model = 0;
  int stepping = 0;
  bool virtual_machine = false;
  std::vector<IsaState> isa;
  /// CPUID says AMX but hides its palette (leaf 0x1D), as some virtual machines do. Libraries that read the palette
  /// crash or give AMX up; AMX itself works with palette 1.
  bool amx_palette_hidden = false;
  std::vector<Cache> caches;  // those of one core, by level
  int online_cores = 0;       // logical processors
  int affinity_cores = 0;
  std::optional<double> quota_cores;
  int usable_cores = 0;
  int64_t memory_bytes = 0;
};

/// Asked once, then remembered.
const CpuInfo& cpu_info();

/// Whether this process may use an instruction set by its name.
bool has_isa(const CpuInfo& info, std::string_view name);

/// Size of the data or unified cache of a level; nothing when the machine does not tell.
std::optional<Cache> data_cache(const CpuInfo& info, int level);

/// Everything that decides which kernels run and how fast, as exact text: vendor, family, model, usable instruction
/// sets, caches, usable cores. Two machines with the same text may share measurements.
std::string device_fingerprint(const CpuInfo& info = cpu_info());
/// 16 hexadecimal digits of the fingerprint, to index by; compare the text as well.
std::string fingerprint_hash(std::string_view fingerprint);

/// Something about the machine that costs speed or breaks libraries, with the remedy.
struct Finding {
  std::string problem;
  std::string remedy;
};
std::vector<Finding> cpu_findings(const CpuInfo& info);

}  // namespace attune
