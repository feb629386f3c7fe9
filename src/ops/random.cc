// Random generators: RandomNormal, RandomUniform, Multinomial, Bernoulli and their Like forms.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> random_ops() { return {}; }

}  // namespace attune
