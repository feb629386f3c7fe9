#include "device/cpu/cpu_info.h"

#include "base/cores.h"
#include "device/cpu/caches.h"
#include "device/cpu/cpuid.h"
#include "device/cpu/isa.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace attune {
namespace {

std::string text_of(std::initializer_list<uint32_t> words) {
  std::string text;
  for (const uint32_t word : words) {
    char bytes[sizeof word];
    std::memcpy(bytes, &word, sizeof word);
    text.append(bytes, sizeof word);
  }
  return text;
}

std::string brand_string() {
  std::string brand;
  for (uint32_t leaf = 0x80000002; leaf <= 0x80000004; ++leaf) {
    const CpuidRegisters r = cpuid(leaf);
    brand += text_of({r.eax, r.ebx, r.ecx, r.edx});
  }
  brand.resize(std::strlen(brand.c_str()));  // padded with NUL
  const size_t first = brand.find_first_not_of(' ');
  if (first == std::string::npos) return "unknown";
  return brand.substr(first, brand.find_last_not_of(' ') - first + 1);
}

/// The display family and model that vendors publish: base and extended fields combined.
void set_model(CpuInfo& info) {
  const uint32_t version = cpuid(1).eax;
  const auto field = [&](int shift, uint32_t mask) { return static_cast<int>(version >> shift & mask); };
  constexpr int kExtendedFamily = 15, kIntelFamily = 6;
  info.stepping = field(0, 0xF);
  info.family = field(8, 0xF);
  info.model = field(4, 0xF);
  if (info.family == kExtendedFamily || info.family == kIntelFamily) info.model += field(16, 0xF) << 4;
  if (info.family == kExtendedFamily) info.family += field(20, 0xFF);
}

CpuInfo detect() {
  CpuInfo info;
  const CpuidRegisters r = cpuid(0);
  info.vendor = text_of({r.ebx, r.edx, r.ecx});
  info.brand = brand_string();
  set_model(info);
  constexpr uint32_t kHypervisor = 1u << 31;
  info.virtual_machine = (cpuid(1).ecx & kHypervisor) != 0;
  info.isa = detect_isa();
  info.amx_palette_hidden = amx_palette_hidden();
  info.caches = detect_caches();
  info.online_cores = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  info.affinity_cores = affinity_cores();
  info.quota_cores = quota_cores();
  info.usable_cores = usable_cores();
  info.memory_bytes = std::max<int64_t>(0, sysconf(_SC_PHYS_PAGES)) * std::max<int64_t>(0, sysconf(_SC_PAGESIZE));
  return info;
}

bool in_cpu(const CpuInfo& info, std::string_view name) {
  return std::any_of(info.isa.begin(), info.isa.end(),
                     [&](const IsaState& state) { return state.name == name && state.in_cpu; });
}

}  // namespace

const CpuInfo& cpu_info() {
  static const CpuInfo info = detect();
  return info;
}

bool has_isa(const CpuInfo& info, std::string_view name) {
  return std::any_of(info.isa.begin(), info.isa.end(),
                     [&](const IsaState& state) { return state.name == name && state.usable; });
}

std::optional<Cache> data_cache(const CpuInfo& info, int level) {
  for (const Cache& cache : info.caches)
    if (cache.level == level && cache.type != CacheType::instruction) return cache;
  return std::nullopt;
}

std::string device_fingerprint(const CpuInfo& info) {
  std::string text = fmt::format("cpu {} family {} model {} isa", info.vendor, info.family, info.model);
  for (const IsaState& state : info.isa)
    if (state.usable) text += fmt::format(" {}", state.name);
  text += " caches";
  for (const Cache& cache : info.caches) {
    const char* type = cache.type == CacheType::data ? "d" : cache.type == CacheType::instruction ? "i" : "";
    text += fmt::format(" L{}{}:{}/{}", cache.level, type, cache.size_bytes, cache.shared_by);
  }
  return text + fmt::format(" cores {}", info.usable_cores);
}

std::string fingerprint_hash(std::string_view fingerprint) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : fingerprint) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

std::vector<Finding> cpu_findings(const CpuInfo& info) {
  std::vector<Finding> findings;
  for (const auto& [name, remedy] :
       {std::pair{"avx2", "boot without 'noxsave', or enable it in the virtual machine"},
        {"avx512f", "boot without 'noxsave' or 'clearcpuid', or enable it in the virtual machine"},
        {"amx_tile", "use Linux 5.16 or newer, and a virtual machine that passes AMX through"}})
    if (in_cpu(info, name) && !has_isa(info, name))
      findings.push_back({fmt::format("the processor has {} but it cannot be used here", name), remedy});
  if (!in_cpu(info, "avx2"))
    findings.push_back({"the processor has no avx2: kernels run several times slower", "use a newer processor"});
  if (info.amx_palette_hidden && has_isa(info, "amx_tile"))
    findings.push_back(
        {"CPUID leaf 0x1D is hidden, so libraries that read the AMX palette crash or give AMX up",
         "set ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 for other programs; attune shows oneDNN palette 1 itself"});
  if (info.quota_cores && *info.quota_cores < info.affinity_cores)
    findings.push_back({fmt::format("a cgroup quota allows {:.2f} of {} cores", *info.quota_cores, info.affinity_cores),
                        "raise the CPU limit of the container"});
  if (info.caches.empty())
    findings.push_back({"neither the kernel nor CPUID tells the sizes of the caches", "mount /sys in the container"});
  return findings;
}

}  // namespace attune
