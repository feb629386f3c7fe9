#include "tune/search/policy.h"

#include <algorithm>

namespace attune::tune {

PolicySearch::PolicySearch(const Space& space, SearchOptions options, PolicyOptions policy)
    : Searcher(space, std::move(options)), policy_(policy) {
  for (size_t p = 0; p < space.parameters().size(); ++p) {
    const size_t values = space.parameters()[p]->texts.size() + (space.is_conditional(p) ? 1 : 0);
    chances_.emplace_back(values, 1.0 / static_cast<double>(values));
  }
}

std::vector<uint64_t> PolicySearch::propose(int count) {
  std::vector<uint64_t> result;
  while (static_cast<int>(result.size()) < count) {
    std::optional<uint64_t> next;
    constexpr int kDraws = 20;
    if (history_.seen() >= policy_.batch)  // the first batch is drawn evenly from the space itself
      for (int i = 0; i < kDraws && !next; ++i) {
        const uint64_t index = draw();
        if (!history_.is_seen(index) && std::ranges::find(result, index) == result.end()) next = index;
      }
    if (!next) next = history_.random_unseen(random_);
    if (!next) break;
    result.push_back(*next);
  }
  return result;
}

uint64_t PolicySearch::draw() {
  constexpr int kDraws = 30;
  Point point(chances_.size());
  for (int attempt = 0; attempt < kDraws; ++attempt) {
    for (size_t p = 0; p < chances_.size(); ++p) {
      double left = random_.uniform();
      size_t value = 0;
      while (value + 1 < chances_[p].size() && left >= chances_[p][value]) left -= chances_[p][value++];
      point[p] = value == space_.parameters()[p]->texts.size() ? kAbsent : static_cast<ValueIndex>(value);
    }
    if (const auto index = space_.settle(point)) return *index;
  }
  return space_.nearest(point);
}

void PolicySearch::learn(const Observation& observation) {
  if (observation.outcome == Outcome::infrastructure) return;
  batch_.push_back(observation);
  if (batch_.size() >= policy_.batch) update();
}

void PolicySearch::update() {
  std::erase_if(batch_, [](const Observation& trial) { return trial.outcome != Outcome::ok; });
  std::ranges::sort(batch_, {}, &Observation::cost);
  std::vector<Point> elite;
  for (size_t i = 0; i < std::min(batch_.size(), std::max<size_t>(1, policy_.batch / 4)); ++i)
    elite.push_back(space_.point_at(batch_[i].point));
  if (const auto* best = history_.best()) elite.push_back(best->point);
  batch_.clear();
  if (elite.empty()) return;
  for (size_t p = 0; p < chances_.size(); ++p) {
    auto& chances = chances_[p];
    const double even = 1.0 / static_cast<double>(chances.size());
    std::vector<double> wanted(chances.size(), 0.0);
    for (const Point& point : elite)
      wanted[std::min<size_t>(point[p], chances.size() - 1)] += 1 / static_cast<double>(elite.size());
    for (size_t v = 0; v < chances.size(); ++v) {
      const double moved = (1 - policy_.learning_rate) * chances[v] + policy_.learning_rate * wanted[v];
      chances[v] = (1 - policy_.floor) * moved + policy_.floor * even;
    }
  }
}

}  // namespace attune::tune
