// What every search promises, whatever its algorithm.
#include "tune/search/make_searcher.h"

#include "base/error.h"
#include "tune/search/boosted_trees.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attune::tune {
namespace {

/// A bowl with its lowest point at tile 32, unroll 3 and packing; order and prefetch matter little, and one corner
/// fails.
class Searchers : public ::testing::TestWithParam<std::string_view> {
 protected:
  static Space make_space() {
    Space space;
    const Param tile = space.power_of_two("tile", 4, 256), unroll = space.ordinal("unroll", {1, 2, 3, 4, 6, 8});
    space.boolean("pack");
    space.permutation("order", {"m", "n", "k"});
    const Param prefetch = space.ordinal("prefetch", {0, 1, 2, 4});
    space.only_if(prefetch, tile >= 16);
    space.require(tile * unroll <= 512, "the tile fits the registers");
    space.set_default({{"tile", "4"}, {"unroll", "1"}, {"pack", "0"}, {"order", "m-n-k"}});
    space.build();
    return space;
  }

  Observation measure(uint64_t index) const {
    const Config config = space_.at(index);
    const double tile = std::log2(std::stod(config.at("tile"))), unroll = std::stod(config.at("unroll"));
    if (tile >= 7 && unroll >= 3) return {index, Outcome::crashed, 0};
    double cost = 1 + 0.2 * (tile - 5) * (tile - 5) + 0.1 * (unroll - 3) * (unroll - 3);
    if (config.at("pack") == "0") cost *= 1.5;
    if (config.at("order") != "n-m-k") cost *= 1.1;
    if (config.contains("prefetch")) cost *= 1 + 0.01 * std::stod(config.at("prefetch"));
    return {index, Outcome::ok, cost};
  }

  SearchOptions options(uint64_t seed = 1) const {
    SearchOptions result;
    result.seed = seed;
    result.budget = 60;
    result.first = {7};
    return result;
  }

  std::unique_ptr<GuidedSearch> make(const SearchOptions& with) const {
    return make_searcher(GetParam(), space_, with);
  }

  /// The points asked, batches of different sizes.
  std::vector<uint64_t> run(Searcher& searcher, int trials) const {
    std::vector<uint64_t> points;
    for (int batch = 1; static_cast<int>(points.size()) < trials; batch = batch % 4 + 1) {
      const auto asked = searcher.ask(std::min(batch, trials - static_cast<int>(points.size())));
      if (asked.empty()) break;
      for (const uint64_t index : asked) {
        points.push_back(index);
        searcher.tell(measure(index));
      }
    }
    return points;
  }

  void SetUp() override {
    if (GetParam() == "model" && !BoostedTrees::is_available()) GTEST_SKIP() << "built without XGBoost";
  }

  Space space_ = make_space();
};

TEST_P(Searchers, asks_every_point_once_and_then_nothing) {
  const auto searcher = make(options());
  std::set<uint64_t> seen;
  for (int round = 0; seen.size() < space_.size() && round < 100'000; ++round)
    for (const uint64_t index : searcher->ask(16)) {
      ASSERT_TRUE(seen.insert(index).second) << "asked twice: " << index;
      ASSERT_LT(index, space_.size());
      // What nobody answers must not be asked again either.
      if (round % 3 != 0) searcher->tell(measure(index));
      if (seen.size() > 120) break;  // the rest goes by skipping, lest models of hundreds of points take their time
    }
  for (uint64_t index = 0; index < space_.size(); ++index) searcher->skip(index);
  EXPECT_TRUE(searcher->ask(4).empty());
}

TEST_P(Searchers, ask_the_same_for_the_same_seed) {
  const auto one = make(options(3)), same = make(options(3)), other = make(options(4));
  const auto points = run(*one, 60);
  EXPECT_EQ(points, run(*same, 60));
  EXPECT_NE(points, run(*other, 60));
}

TEST_P(Searchers, begin_with_the_default_and_the_known_good) {
  const auto searcher = make(options());
  const auto asked = searcher->ask(3);
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0], space_.default_index());
  EXPECT_EQ(asked[1], 7u);
}

TEST_P(Searchers, continue_where_they_were_saved) {
  const auto first = make(options());
  run(*first, 30);
  const auto pending = first->ask(2);  // asked and not answered yet
  const auto second = make(options());
  second->restore(first->save());
  EXPECT_EQ(second->save(), first->save());
  for (const uint64_t index : pending) {
    first->tell(measure(index));
    second->tell(measure(index));
  }
  EXPECT_EQ(run(*first, 25), run(*second, 25));
}

TEST_P(Searchers, refuse_a_state_that_is_not_theirs) {
  const auto searcher = make(options());
  EXPECT_THROW(searcher->restore("not json"), UserError);
  EXPECT_THROW(searcher->restore("{}"), UserError);
  EXPECT_THROW(searcher->restore(make(options(9))->save()), UserError);
  const std::string_view another = GetParam() == "random" ? "genetic" : "random";
  EXPECT_THROW(searcher->restore(make_searcher(another, space_, options())->save()), UserError);
}

TEST_P(Searchers, live_with_nothing_but_failures) {
  const auto searcher = make(options());
  for (int i = 0; i < 40; ++i)
    for (const uint64_t index : searcher->ask(2))
      searcher->tell({index, i % 2 == 0 ? Outcome::timed_out : Outcome::infrastructure, 0});
  EXPECT_EQ(searcher->history().best(), nullptr);
  EXPECT_FALSE(searcher->ask(1).empty());
}

TEST_P(Searchers, end_with_the_surroundings_of_the_best) {
  const auto searcher = make(options());
  run(*searcher, 30);
  searcher->polish();
  for (auto asked = searcher->ask(1); !asked.empty(); asked = searcher->ask(1)) searcher->tell(measure(asked[0]));
  const auto* best = searcher->history().best();
  ASSERT_NE(best, nullptr);
  for (const uint64_t near : space_.neighbours(best->index)) EXPECT_TRUE(searcher->history().is_seen(near));
}

TEST_P(Searchers, find_a_good_point_of_an_easy_space) {
  if (GetParam() == "random" || GetParam() == "exhaustive") GTEST_SKIP() << "they do not learn";
  int good = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const auto searcher = make(options(seed));
    run(*searcher, 60);
    good += searcher->history().best()->score <= std::log(1.05);
  }
  EXPECT_GE(good, 8) << "of 10 seeds";  // at random: 2 of 10
}

INSTANTIATE_TEST_SUITE_P(All, Searchers, ::testing::ValuesIn(searcher_names().begin(), searcher_names().end()),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(MakeSearcher, answers_an_unknown_name_with_the_known_ones) {
  const Space space = Space::of_list({{}});
  try {
    make_searcher("genetics", space, {});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'genetic'"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("bayesian"), std::string::npos) << error.what();
  }
}

TEST(MakeSearcher, refuses_the_model_with_a_remedy_where_xgboost_is_missing) {
  const Space space = Space::of_list({{}});
  if (BoostedTrees::is_available()) {
    EXPECT_EQ(make_searcher("model", space, {})->name(), "model");
    return;
  }
  try {
    make_searcher("model", space, {});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("libxgboost-dev"), std::string::npos) << error.what();
  }
}

TEST(MakeSearcher, refuses_an_empty_space) { EXPECT_THROW(make_searcher("random", Space::of_list({}), {}), UserError); }

TEST(AutoSearch, measures_everything_where_the_budget_allows) {
  std::vector<Config> configs;
  for (int i = 0; i < 40; ++i) configs.push_back({{"tile", std::to_string(i)}});
  const Space space = Space::of_list(configs);
  SearchOptions options;
  options.budget = 40;
  const auto searcher = make_searcher("auto", space, options);
  std::set<uint64_t> seen;
  for (int i = 0; i < 40; ++i)
    for (const uint64_t index : searcher->ask(1)) {
      seen.insert(index);
      searcher->tell({index, Outcome::ok, 1.0 + static_cast<double>(index)});
    }
  EXPECT_EQ(seen.size(), 40u);
}

TEST(ModelSearch, starts_from_records_of_other_workloads) {
  if (!BoostedTrees::is_available()) GTEST_SKIP() << "built without XGBoost";
  Space space;
  space.power_of_two("tile", 1, 1024);
  space.ordinal("unroll", {1, 2, 3, 4, 5, 6, 7, 8});
  space.set_default({{"tile", "1"}, {"unroll", "1"}});
  space.build();
  const auto cost = [](double tile, double unroll, double m) {
    return m * (1 + std::abs(std::log2(tile) - 6) + std::abs(unroll - 4));
  };
  SearchOptions options;
  options.workload = {{"m", 300}};
  for (const double m : {100.0, 200.0})
    for (uint64_t i = 0; i < space.size(); i += 2) {
      const Config config = space.at(i);
      options.prior.push_back(
          {config, {{"m", m}}, Outcome::ok, cost(std::stod(config.at("tile")), std::stod(config.at("unroll")), m)});
    }
  const auto searcher = make_bare_searcher("model", space, options);
  double best = 1e9;
  for (int i = 0; i < 4; ++i) {
    const uint64_t index = searcher->ask(1).at(0);
    const Config config = space.at(index);
    const double taken = cost(std::stod(config.at("tile")), std::stod(config.at("unroll")), 300);
    searcher->tell({index, Outcome::ok, taken});
    best = std::min(best, taken);
  }
  EXPECT_LE(best, cost(64, 4, 300) + 1.01 * 300);  // within one step of the best, at the fourth trial
}

}  // namespace
}  // namespace attune::tune
