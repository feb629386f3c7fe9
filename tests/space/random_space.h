// Random small spaces with their points found by trying every combination.
#pragma once

#include "space/space.h"

#include <set>

namespace attune::testing {

struct RandomSpace {
  Space space;
  std::set<Config> points;  // by brute force
  std::string text;         // the constraints, to tell which space failed
};

/// Two to five parameters of all kinds, up to four constraints and sometimes a condition. The space is built; it may be
/// empty.
RandomSpace make_random_space(uint64_t seed);

}  // namespace attune::testing
