// Fourier transforms, windows, mel weights.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> signal_ops() { return {}; }

}  // namespace attune
