// TfIdfVectorizer over integer tokens.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> text_ops() { return {}; }

}  // namespace attune
