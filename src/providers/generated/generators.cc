#include "providers/generated/generator.h"
#include "providers/generated/vector_map.h"
#include "providers/generated/vector_permute.h"
#include "providers/generated/vector_rows.h"

namespace attune {

std::span<const Generator* const> generators() {
  static const VectorMapGenerator map;
  static const VectorPermuteGenerator permute;
  static const VectorRowsGenerator rows;
  static const Generator* const list[] = {&map, &rows, &permute};
  return list;
}

}  // namespace attune
