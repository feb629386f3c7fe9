#include "providers/generated/attention.h"
#include "providers/generated/cube_generators.h"
#include "providers/generated/cube_separable.h"
#include "providers/generated/cube_shuffled.h"
#include "providers/generated/cube_strided_gradient.h"
#include "providers/generated/cube_weight_gradient.h"
#include "providers/generated/generator.h"
#include "providers/generated/recurrent.h"
#include "providers/generated/vector_chain.h"
#include "providers/generated/vector_chain_rows.h"
#include "providers/generated/vector_gather.h"
#include "providers/generated/vector_map.h"
#include "providers/generated/vector_parts.h"
#include "providers/generated/vector_permute.h"
#include "providers/generated/vector_reduce.h"
#include "providers/generated/vector_rows.h"

namespace attune {

std::span<const Generator* const> generators() {
  static const AttentionGenerator attention;
  static const CubeWinogradGenerator cube_winograd;
  static const CubeBandsGenerator cube_bands;
  static const CubeTilesGenerator cube_tiles;
  static const CubeRowsGenerator cube_rows;
  static const CubeVectorsGenerator cube_vectors;
  static const CubeDepthwiseGenerator cube_depthwise;
  static const CubeSeparableGenerator cube_separable;
  static const CubeShuffledGenerator cube_shuffled;
  static const CubeStridedGradientGenerator strided_gradient;
  static const CubeWeightGradientGenerator weight_gradient;
  static const VectorMapGenerator map;
  static const VectorPermuteGenerator permute;
  static const VectorPartsGenerator parts;
  static const VectorGatherGenerator gather;
  static const VectorReduceGenerator reduce;
  static const VectorRowsGenerator rows;
  static const VectorChainGenerator chain;
  static const VectorChainRowsGenerator chain_rows;
  static const RecurrentGenerator recurrent;
  static const Generator* const list[] = {
      &cube_winograd,   &cube_bands, &cube_tiles, &cube_rows,      &cube_vectors,
      &cube_depthwise,  &map,        &rows,       &reduce,         &permute,
      &attention,       &chain,      &chain_rows, &cube_separable, &strided_gradient,
      &weight_gradient, &parts,      &gather,     &cube_shuffled,  &recurrent};
  return list;
}

}  // namespace attune
