// Rotation of pairs of elements by position-dependent angles, for both RotaryEmbedding operators and the attention
// operators that rotate by themselves.
#pragma once

#include "ops/attention_core.h"

namespace attune::attention {

template <class C> struct Rotation {
  int64_t batch = 0, heads = 0, rows = 0, head_size = 0;
  int64_t rotary_size = 0;   // leading elements of a head that are rotated: even, at most head_size
  bool interleaved = false;  // pairs are neighbours instead of halves
  const C* cos = nullptr;    // rows of rotary_size / 2 angles
  const C* sin = nullptr;
  const int64_t* angle_rows = nullptr;  // batch x rows: which row of cos and sin to use
};

template <class C> void rotate(const Rotation<C>& rotation, const HeadsView<const C>& src, const HeadsView<C>& dst);

}  // namespace attune::attention
