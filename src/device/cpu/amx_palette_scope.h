// Shows the AMX palette to libraries on machines whose CPUID hides it.
#pragma once

namespace attune {

/// While this lives, CPUID on the calling thread answers leaves 0x1D and 0x1E with palette 1. Some virtual machines
/// pass AMX through but not these leaves; a library that reads its tile sizes there gets zeros and dies of SIGILL.
///
/// CPUID is made to trap (Linux's ARCH_SET_CPUID, which is per thread) and SIGSEGV answers it; every other fault goes
/// on to whoever handled it before. Scopes may nest, and several threads may be in one at a time.
class AmxPaletteScope {
 public:
  /// Whether there is a hidden palette to show, AMX works, and this machine can trap CPUID. Asked once.
  static bool useful();

  AmxPaletteScope();  // does nothing where it is not useful
  ~AmxPaletteScope();
  AmxPaletteScope(const AmxPaletteScope&) = delete;
  AmxPaletteScope& operator=(const AmxPaletteScope&) = delete;
};

}  // namespace attune
