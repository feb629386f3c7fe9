#include "tune/search/gp_search.h"

#include "tune/search/pick.h"

#include <cmath>
#include <set>

namespace attune::tune {

GpSearch::GpSearch(const Space& space, SearchOptions options, GpOptions gp)
    : Searcher(space, std::move(options)), gp_(gp), encoding_(space, Scale::unit), process_(encoding_.parameters()) {
  for (const size_t parameter : encoding_.parameters()) {
    // Two different texts differ in two features; scaled, they are as far apart as the ends of an ordered parameter.
    const bool is_one_of = space.parameters()[parameter]->kind == ParameterKind::categorical;
    feature_scale_.push_back(is_one_of ? std::sqrt(0.5) : 1.0);
  }
}

std::vector<double> GpSearch::features(const Point& point) const {
  const std::vector<float> encoded = encoding_.encode(point);
  std::vector<double> result(encoded.size());
  for (size_t i = 0; i < result.size(); ++i) result[i] = static_cast<double>(encoded[i]) * feature_scale_[i];
  return result;
}

void GpSearch::update() {
  const auto& ranking = history_.ranking();
  if (fitted_ == ranking.size()) return;
  // In the order they were told, so that the process only has to add the last.
  const size_t certain = std::min(ranking.size(), gp_.max_points / 2);
  std::set<size_t> used(ranking.begin(), ranking.begin() + static_cast<std::ptrdiff_t>(certain));
  for (size_t i = history_.entries().size(); i-- > 0 && used.size() < gp_.max_points;)
    if (history_.entries()[i].is_ok) used.insert(i);
  GaussianProcess::Rows rows;
  std::vector<double> values;
  const double middle = history_.ranked(ranking.size() / 2).score;
  for (const size_t position : used) {
    rows.push_back(features(history_.entries()[position].point));
    const double score = history_.entries()[position].score;
    values.push_back(score <= middle ? score : middle + gp_.tail * (score - middle));
  }
  process_.fit(std::move(rows), values, gp_.noise);
  if (static_cast<double>(ranking.size()) >= gp_.rescale_growth * static_cast<double>(scaled_)) {
    process_.choose_scales();
    scaled_ = ranking.size();
  }
  fitted_ = ranking.size();
}

std::vector<double> GpSearch::promise(const std::vector<uint64_t>& candidates) {
  if (history_.ranking().empty()) return Searcher::promise(candidates);
  update();
  GaussianProcess::Rows rows;
  std::vector<Point> points;
  for (const uint64_t index : candidates) {
    points.push_back(space_.point_at(index));
    rows.push_back(features(points.back()));
  }
  const auto predictions = process_.predict(rows);
  std::vector<double> result;
  for (size_t i = 0; i < candidates.size(); ++i)
    result.push_back(expected_improvement(predictions[i], history_.best()->score) *
                     history_.chance_of_working(points[i]));
  return result;
}

std::vector<uint64_t> GpSearch::propose(int count) {
  if (history_.seen() < gp_.initial || history_.ranking().size() < 2) {
    const auto index = history_.random_unseen(random_);
    return index ? std::vector{*index} : std::vector<uint64_t>{};
  }
  const auto candidates = make_candidates(space_, history_, random_, gp_.candidates);
  return pick_best(candidates, promise(candidates), count);
}

}  // namespace attune::tune
