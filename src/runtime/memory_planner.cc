#include "runtime/memory_planner.h"

#include <algorithm>
#include <numeric>

namespace attune {
namespace {

constexpr int64_t kAlignment = 64;

struct Placed {
  int64_t begin, end, first, last;
};

}  // namespace

ArenaLayout plan_arena(const std::vector<BufferLifetime>& buffers) {
  ArenaLayout layout;
  layout.offsets.resize(buffers.size(), 0);
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  std::vector<Placed> placed;  // by offset
  for (const size_t index : order) {
    const BufferLifetime& buffer = buffers[index];
    const int64_t bytes = (std::max<int64_t>(buffer.bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
    int64_t offset = 0;
    for (const Placed& other : placed) {
      if (other.last < buffer.first || buffer.last < other.first) continue;
      if (other.begin >= offset + bytes) break;  // the gap before it is large enough
      offset = std::max(offset, other.end);
    }
    layout.offsets[index] = offset;
    layout.bytes = std::max(layout.bytes, offset + bytes);
    const Placed entry{offset, offset + bytes, buffer.first, buffer.last};
    placed.insert(std::upper_bound(placed.begin(), placed.end(), entry,
                                   [](const Placed& a, const Placed& b) { return a.begin < b.begin; }),
                  entry);
  }
  return layout;
}

}  // namespace attune
