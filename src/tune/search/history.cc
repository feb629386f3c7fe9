#include "tune/search/history.h"

#include "base/error.h"

#include <algorithm>
#include <cmath>

namespace attune::tune {

void History::add(const Observation& observation) {
  mark(observation.point);
  if (observation.outcome == Outcome::infrastructure) return;
  const bool is_ok = observation.outcome == Outcome::ok;
  if (is_ok && !(observation.cost > 0 && std::isfinite(observation.cost)))
    throw InternalError("a trial that is ok took {}", observation.cost);
  entries_.push_back(
      {observation.point, space_.point_at(observation.point), is_ok, is_ok ? std::log(observation.cost) : 0});
  if (!is_ok) return;
  const auto place = std::ranges::upper_bound(ranking_, entries_.back().score, {},
                                              [&](size_t position) { return entries_[position].score; });
  ranking_.insert(place, entries_.size() - 1);
}

std::optional<uint64_t> History::random_unseen(Random& random) const {
  if (is_exhausted()) return std::nullopt;
  constexpr int kDraws = 64;
  for (int i = 0; i < kDraws; ++i)
    if (const uint64_t index = space_.sample(random); !is_seen(index)) return index;
  // Nearly everything has been seen, so the rest is found by looking.
  uint64_t index = space_.sample(random);
  while (is_seen(index)) index = (index + 1) % space_.size();
  return index;
}

double History::chance_of_working(const Point& point) const {
  if (failures() == 0) return 1;
  constexpr size_t kNear = 5;
  std::vector<std::pair<int, bool>> nearest;
  for (const Entry& entry : entries_) {
    int distance = 0;
    for (size_t i = 0; i < point.size(); ++i) distance += point[i] != entry.point[i];
    nearest.emplace_back(distance, entry.is_ok);
  }
  const size_t count = std::min(kNear, nearest.size());
  std::partial_sort(nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(count), nearest.end());
  double weight = 1, working = 1;  // one point that worked, lest a first failure condemn everything
  for (size_t i = 0; i < count; ++i) {
    const double w = 1.0 / (1 + nearest[i].first);
    weight += w;
    working += nearest[i].second ? w : 0;
  }
  return working / weight;
}

}  // namespace attune::tune
