#include "bank/device_fingerprint.h"

#include <fmt/core.h>

namespace attune {

std::string device_text(const CpuInfo& info) {
  std::string text = fmt::format("cpu vendor={} family={} model={} stepping={}; isa=", info.vendor, info.family,
                                 info.model, info.stepping);
  const char* separator = "";
  for (const IsaState& state : info.isa) {
    if (!state.usable) continue;
    text += fmt::format("{}{}", separator, state.name);
    separator = " ";
  }
  text += "; caches=";
  separator = "";
  for (const Cache& cache : info.caches) {
    const char* type = cache.type == CacheType::data ? "d" : cache.type == CacheType::instruction ? "i" : "";
    text += fmt::format("{}L{}{}:{}/{}", separator, cache.level, type, cache.size_bytes, cache.shared_by);
    separator = " ";
  }
  return text + fmt::format("; cores={}; hypervisor={}", info.usable_cores, info.virtual_machine ? "yes" : "no");
}

std::string_view device_model(std::string_view device) { return device.substr(0, device.find(';')); }

}  // namespace attune
