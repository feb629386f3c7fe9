#include "providers/generated/generator.h"
#include "providers/generated/vector_map.h"

namespace attune {

std::span<const Generator* const> generators() {
  static const VectorMapGenerator map;
  static const Generator* const list[] = {&map};
  return list;
}

}  // namespace attune
