// What the machine at hand has for products: instructions, threads, caches.
#pragma once

#include "codegen/cube/vectors.h"

#include <cstdint>

namespace attune::generated {

/// What a product may be written for on this machine.
struct ProductTarget {
  cube::VectorIsa isa;  // with the widest vectors
  bool vectors = true;  // AVX2 with FMA, or more
  bool amx = false;
  int wide_turns = 1;  // of the multipliers for one of the widest vectors, where one of half the width takes one
  int threads = 1;
  int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20;  // of one core
};

/// What this process may use.
ProductTarget host_target();

}  // namespace attune::generated
