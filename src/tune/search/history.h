// What a search knows so far: which points it has seen, and how the measured ones did.
#pragma once

#include "bank/outcome.h"
#include "space/space.h"

#include <unordered_set>

namespace attune::tune {

/// A point of the space and what came of it. `cost` counts only when the outcome is ok: a time, or a ratio of times,
/// above zero.
struct Observation {
  uint64_t point = 0;
  Outcome outcome = Outcome::ok;
  double cost = 0;
};

class History {
 public:
  explicit History(const Space& space) : space_(space) {}

  struct Entry {
    uint64_t index;
    Point point;
    bool is_ok;
    double score;  // logarithm of the cost; of ok ones only
  };

  /// False when it was seen before.
  bool mark(uint64_t index) { return seen_.insert(index).second; }
  bool is_seen(uint64_t index) const { return seen_.contains(index); }
  uint64_t seen() const { return seen_.size(); }
  bool is_exhausted() const { return seen_.size() >= space_.size(); }
  void add(const Observation& observation);

  /// In the order they were told. Infrastructure failures say nothing about a point and are not here.
  const std::vector<Entry>& entries() const { return entries_; }
  /// Of the ok ones: the position in entries(), best first.
  const std::vector<size_t>& ranking() const { return ranking_; }
  const Entry* best() const { return ranking_.empty() ? nullptr : &entries_[ranking_.front()]; }
  const Entry& ranked(size_t rank) const { return entries_[ranking_[rank]]; }
  size_t failures() const { return entries_.size() - ranking_.size(); }

  /// Any point that was not seen, evenly; nothing when there is none.
  std::optional<uint64_t> random_unseen(Random& random) const;
  /// How likely a point is to work, by the measured points that are nearest to it; 1 while nothing has failed.
  double chance_of_working(const Point& point) const;

 private:
  const Space& space_;
  std::unordered_set<uint64_t> seen_;
  std::vector<Entry> entries_;
  std::vector<size_t> ranking_;
};

}  // namespace attune::tune
