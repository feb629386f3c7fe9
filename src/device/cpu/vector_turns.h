// Whether vectors of 512 bits are worth more than those of 256: some processors take two turns for one.
#pragma once

namespace attune {

/// Turns of the multipliers that a multiply-add of 512 bits takes, where one of 256 bits takes one: 1 or 2, measured
/// once in a fraction of a millisecond, or a few where it is 2. 1 where there are no vectors of 512 bits.
int wide_vector_turns();

}  // namespace attune
