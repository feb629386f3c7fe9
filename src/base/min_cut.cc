#include "base/min_cut.h"

#include <algorithm>
#include <deque>
#include <limits>

namespace attune {
namespace {

constexpr double kNothing = 1e-12;

}  // namespace

MinCut::MinCut(size_t items) : source_(items), sink_(items + 1), out_(items + 2) {}

void MinCut::add(size_t from, size_t to, double capacity) {
  if (capacity <= 0) return;
  out_[from].push_back(edges_.size());
  edges_.push_back({to, capacity});
  out_[to].push_back(edges_.size());
  edges_.push_back({from, 0});
}

/// Sends what fits along a shortest path; false when there is none.
bool MinCut::augment() {
  constexpr size_t kNone = std::numeric_limits<size_t>::max();
  std::vector<size_t> came_by(out_.size(), kNone);
  std::deque<size_t> open{source_};
  while (!open.empty() && came_by[sink_] == kNone) {
    const size_t here = open.front();
    open.pop_front();
    for (const size_t edge : out_[here]) {
      const size_t next = edges_[edge].to;
      if (edges_[edge].left <= kNothing || came_by[next] != kNone || next == source_) continue;
      came_by[next] = edge;
      open.push_back(next);
    }
  }
  if (came_by[sink_] == kNone) return false;
  double most = std::numeric_limits<double>::infinity();
  for (size_t at = sink_; at != source_; at = edges_[came_by[at] ^ 1].to)
    most = std::min(most, edges_[came_by[at]].left);
  for (size_t at = sink_; at != source_; at = edges_[came_by[at] ^ 1].to) {
    edges_[came_by[at]].left -= most;
    edges_[came_by[at] ^ 1].left += most;
  }
  return true;
}

std::vector<bool> MinCut::solve() {
  while (augment()) {}
  // What still reaches the sink lies on the second side.
  std::vector<bool> reaches(out_.size(), false);
  std::deque<size_t> open{sink_};
  reaches[sink_] = true;
  while (!open.empty()) {
    const size_t here = open.front();
    open.pop_front();
    for (const size_t edge : out_[here]) {
      const size_t from = edges_[edge].to;
      if (edges_[edge ^ 1].left <= kNothing || reaches[from]) continue;
      reaches[from] = true;
      open.push_back(from);
    }
  }
  reaches.resize(source_);
  return reaches;
}

}  // namespace attune
