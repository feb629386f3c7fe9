#include "tune/search/model_search.h"

#include "tune/search/pick.h"

#include <cmath>
#include <limits>

namespace attune::tune {

ModelSearch::ModelSearch(const Space& space, SearchOptions options, ModelOptions model)
    : Searcher(space, std::move(options)), model_(model), encoding_(space, Scale::natural), trees_(model.trees) {
  for (const auto& [feature, value] : options_.workload) workload_names_.push_back(feature);
  read_prior();
}

void ModelSearch::append_workload(std::vector<float>& row, const std::map<std::string, double>& workload) const {
  for (const std::string& feature : workload_names_) {
    const auto value = workload.find(feature);
    row.push_back(value == workload.end() ? std::numeric_limits<float>::quiet_NaN()
                                          : static_cast<float>(std::log2(1 + std::abs(value->second))));
  }
}

void ModelSearch::read_prior() {
  // Times of different workloads are not comparable; how they lie around their workload's mean is.
  std::map<std::map<std::string, double>, std::pair<double, double>> sums;
  for (const PriorRecord& record : options_.prior)
    if (record.outcome == Outcome::ok) {
      auto& [sum, count] = sums[record.workload];
      sum += std::log(record.cost);
      ++count;
    }
  for (const PriorRecord& record : options_.prior) {
    if (record.outcome != Outcome::ok) continue;
    std::vector<float> row = encoding_.encode(record.config);
    append_workload(row, record.workload);
    prior_rows_.insert(prior_rows_.end(), row.begin(), row.end());
    const auto& [sum, count] = sums[record.workload];
    prior_values_.push_back(static_cast<float>(std::log(record.cost) - sum / count));
  }
}

void ModelSearch::update() {
  const size_t known = history_.ranking().size();
  if (is_fitted_ && known < fitted_ + model_.refit_every) return;
  std::vector<float> rows = prior_rows_, values = prior_values_,
                     weights(prior_values_.size(), static_cast<float>(model_.prior_weight));
  double mean = 0;
  for (const size_t position : history_.ranking()) mean += history_.entries()[position].score;
  mean /= std::max<double>(1, static_cast<double>(known));
  for (const auto& entry : history_.entries()) {
    if (!entry.is_ok) continue;
    std::vector<float> row = encoding_.encode(entry.point);
    append_workload(row, options_.workload);
    rows.insert(rows.end(), row.begin(), row.end());
    values.push_back(static_cast<float>(entry.score - mean));
    weights.push_back(1);
  }
  trees_.fit(rows, values, weights);
  fitted_ = known;
  is_fitted_ = true;
}

std::vector<double> ModelSearch::promise(const std::vector<uint64_t>& candidates) {
  if (history_.ranking().empty() && prior_values_.empty()) return Searcher::promise(candidates);
  update();
  std::vector<float> rows;
  std::vector<Point> points;
  for (const uint64_t index : candidates) {
    points.push_back(space_.point_at(index));
    std::vector<float> row = encoding_.encode(points.back());
    append_workload(row, options_.workload);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  const std::vector<float> predicted = trees_.predict(rows, candidates.size());
  std::vector<double> result;
  for (size_t i = 0; i < candidates.size(); ++i)  // a likely failure must promise that much more
    result.push_back(-static_cast<double>(predicted[i]) + std::log(history_.chance_of_working(points[i])));
  return result;
}

std::vector<uint64_t> ModelSearch::propose(int count) {
  const bool knows_enough =
      !prior_values_.empty() || (history_.seen() >= model_.initial && history_.ranking().size() > 1);
  if (!knows_enough || random_.uniform() < model_.random_share) {
    const auto index = history_.random_unseen(random_);
    return index ? std::vector{*index} : std::vector<uint64_t>{};
  }
  const auto candidates = make_candidates(space_, history_, random_, model_.candidates);
  return pick_best(candidates, promise(candidates), count);
}

}  // namespace attune::tune
