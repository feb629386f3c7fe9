#include "score.h"

#include "base/statistics.h"

#include <algorithm>
#include <filesystem>
#include <ranges>

namespace attune::bench {
namespace {

constexpr double kNear = 1.05;

/// Best time after each trial; the worst of the table until something works.
std::vector<double> run(const Table& table, const Contender& contender, uint64_t seed, int budget) {
  tune::SearchOptions options;
  options.seed = seed;
  options.budget = budget;
  const auto searcher = contender.make(table.replay.space(), options);
  std::vector<double> best{table.replay.sorted_times().back()};
  while (static_cast<int>(best.size()) <= budget) {
    const auto asked = searcher->ask(1);
    if (asked.empty()) break;
    const tune::Observation result = table.replay.measure(asked[0]);
    best.push_back(result.outcome == Outcome::ok ? std::min(best.back(), result.cost) : best.back());
    searcher->tell(result);
  }
  best.resize(static_cast<size_t>(budget) + 1, best.back());
  return best;
}

}  // namespace

Table load_table(const std::string& path) {
  const std::string file = std::filesystem::path(path).filename().string();
  Table table{file.substr(0, file.find('.')), file.substr(0, file.find('_')), tune::ReplayTable::read(path), {}, {}};
  const auto& times = table.replay.sorted_times();
  const auto size = static_cast<double>(table.replay.space().size());
  const double worst = times.back(), limit = kNear * times.front();
  for (int k = 0; k <= 200; ++k) {
    // S(i): the chance that k draws miss the i best. Failures rank last and count as the worst time.
    double missed = 1, expected = 0;
    double miss_near = 1;
    for (size_t i = 0; i < times.size(); ++i) {
      const double left = size - static_cast<double>(i);
      const double next = k >= left ? 0 : missed * (left - k) / left;
      expected += times[i] * (missed - next);
      missed = next;
      if (times[i] <= limit) miss_near = next;
    }
    table.random_best.push_back(expected + missed * worst);
    for (int c = 0; c < kChecked; ++c)
      if (k == kChecks[c]) table.random_near[c] = 1 - miss_near;
  }
  return table;
}

Score score_on(const Table& table, const Contender& contender, int seeds, Extent extent) {
  std::vector<double> mean(201, 0.0);
  Score score;
  for (int seed = 1; seed <= seeds; ++seed) {
    std::vector<double> best = run(table, contender, static_cast<uint64_t>(seed), 100);
    best.resize(mean.size(), best.back());
    if (extent == Extent::whole)
      std::ranges::copy(run(table, contender, static_cast<uint64_t>(seed), 200) | std::views::drop(101),
                        best.begin() + 101);
    for (size_t k = 0; k < mean.size(); ++k) mean[k] += best[k] / seeds;
    for (int c = 0; c < kChecked; ++c)
      score.near[c] += best[static_cast<size_t>(kChecks[c])] <= kNear * table.replay.best() ? 1.0 / seeds : 0;
  }
  const auto part = [&](size_t from, size_t to) {
    double sum = 0;
    for (size_t k = from; k <= to; ++k) {
      const double room = table.random_best[k] - table.replay.best();
      sum += room <= 0 ? 0 : (table.random_best[k] - mean[k]) / room;
    }
    return sum / static_cast<double>(to - from + 1);
  };
  score.early = part(20, 100);
  score.late = part(101, 200);
  return score;
}

Summary summarize_families(const std::vector<Table>& tables, const std::vector<double>& values) {
  std::map<std::string, std::pair<double, double>> sums;
  for (size_t i = 0; i < tables.size(); ++i) {
    sums[tables[i].family].first += values[i];
    ++sums[tables[i].family].second;
  }
  std::vector<double> families;
  for (const auto& [family, sum] : sums) families.push_back(sum.first / sum.second);
  const auto count = static_cast<int64_t>(families.size());
  Summary summary;
  for (const double value : families) summary.mean += value / static_cast<double>(count);
  Random random(1);
  std::vector<double> means;
  for (int i = 0; i < 4000; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < count; ++j) sum += families[static_cast<size_t>(random.below(count))];
    means.push_back(sum / static_cast<double>(count));
  }
  std::ranges::sort(means);
  summary.low = quantile(means, 0.025);
  summary.high = quantile(means, 0.975);
  return summary;
}

}  // namespace attune::bench
