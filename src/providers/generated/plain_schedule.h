// Schedules of products whose results have places of their own, so that nothing can wait there: the whole depth passes
// at once, and results stay in the caches.
#pragma once

#include "providers/generated/cube_schedule.h"
#include "providers/generated/generator_space.h"

#include <set>

namespace attune::generated {

/// Those of `vector_configs`, made plain; empty where the target lacks the instructions.
std::vector<Config> plain_sweep(const ProductProblem& problem, const ProductTarget& target);

/// Everything that such a schedule can choose; `fetch_rows` as the kernel allows it.
void declare_plain(const cube::ProductShape& shape, const std::vector<Config>& sweep,
                   const std::set<int64_t>& fetch_rows, GeneratorSpace& space);

}  // namespace attune::generated
