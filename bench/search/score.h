// How good a search is on a table, against random search without replacement, whose expectation is exact.
#pragma once

#include "tune/search/make_searcher.h"
#include "tune/search/replay.h"

namespace attune::bench {

inline constexpr int kChecks[] = {25, 50, 100, 200};  // trials after which the distance to the optimum is looked at
inline constexpr int kChecked = 4;

struct Table {
  std::string name, family;
  tune::ReplayTable replay;
  std::vector<double> random_best;    // expected best after k trials, k from 0
  double random_near[kChecked] = {};  // chance of being within 5 % after kChecks
};
Table load_table(const std::string& path);

using Factory = std::function<std::unique_ptr<tune::Searcher>(const Space&, const tune::SearchOptions&)>;
struct Contender {
  std::string name;
  Factory make;
};

/// Means over seeds on one table.
struct Score {
  double early = 0;            // 20 to 100 trials: 0 is random, 1 the optimum
  double late = 0;             // 100 to 200 trials
  double near[kChecked] = {};  // share of runs within 5 % of the optimum after kChecks
};
/// Whether the part beyond 100 trials is scored, too.
enum class Extent : uint8_t { early, whole };
/// Each seed is a run with a budget of 100 trials for what is read up to there, and one with 200 for the rest.
Score score_on(const Table& table, const Contender& contender, int seeds, Extent extent);

struct Summary {
  double mean = 0, low = 0, high = 0;  // over families; 95 % by bootstrap over families
};
Summary summarize_families(const std::vector<Table>& tables, const std::vector<double>& values);

}  // namespace attune::bench
