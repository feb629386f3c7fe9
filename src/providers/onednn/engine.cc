#include "providers/onednn/engine.h"

#include "device/cpu/cpu_info.h"

namespace attune::onednn {

const dnnl::engine& engine() {
  static const dnnl::engine cpu = [] {
    // oneDNN reads the AMX palette from CPUID leaf 0x1D; where that is hidden its tiles have no size and SIGILL
    // follows.
    if (cpu_info().amx_palette_hidden) dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16);
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return cpu;
}

}  // namespace attune::onednn
