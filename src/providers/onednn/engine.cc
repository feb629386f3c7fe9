#include "providers/onednn/engine.h"

#include "device/cpu/amx_palette_scope.h"
#include "device/cpu/cpu_info.h"

namespace attune::onednn {
namespace {

bool is_capped() { return cpu_info().amx_palette_hidden && !AmxPaletteScope::useful(); }

}  // namespace

const dnnl::engine& engine() {
  static const dnnl::engine cpu = [] {
    // oneDNN reads the AMX palette from CPUID leaf 0x1D whenever it makes a primitive; where that is hidden and cannot
    // be shown, its tiles have no size and SIGILL follows.
    if (is_capped()) dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16);
    // What it remembers of primitives that were made is listed once more beside the others of an operation, so that the
    // list, which plans and records name entries of, would depend on what happened before. Plans share kernels
    // themselves.
    dnnl::set_primitive_cache_capacity(0);
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return cpu;
}

std::string isa_note() {
  if (is_capped())
    return "oneDNN is held to AVX-512 with bf16: CPUID leaf 0x1D is hidden, and its AMX code would crash";
  if (AmxPaletteScope::useful())
    return "oneDNN is shown AMX palette 1, which CPUID leaf 0x1D hides; without it its AMX code would crash";
  return "";
}

}  // namespace attune::onednn
