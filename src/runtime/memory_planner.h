// Places buffers with known lifetimes into one arena.
#pragma once

#include <cstdint>
#include <vector>

namespace attune {

/// Alive from step `first` to step `last`, both included.
struct BufferLifetime {
  int64_t bytes = 0;
  int64_t first = 0;
  int64_t last = 0;
};

struct ArenaLayout {
  std::vector<int64_t> offsets;  // one for each buffer, aligned to a cache line
  int64_t bytes = 0;
};

/// Greedy by size: the largest buffer first, each at the lowest offset that is free during its whole life.
ArenaLayout plan_arena(const std::vector<BufferLifetime>& buffers);

}  // namespace attune
