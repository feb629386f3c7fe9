// Who is scored: the searches as users get them, and variants of their settings.
#pragma once

#include "score.h"

namespace attune::bench {

std::vector<Contender> shipped_contenders();

/// Settings of one search that were considered; the first is what ships.
struct VariantGroup {
  std::string name;
  std::vector<Contender> variants;
};
std::vector<VariantGroup> variant_groups();

}  // namespace attune::bench
