// Elementwise functions of any number of inputs (Max, Min, Mean, Sum) and Where.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> variadic_ops() { return {}; }

}  // namespace attune
