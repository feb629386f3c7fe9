// The parts that searches are made of: orders, regression, modes, recorded tables.
#include "base/error.h"
#include "tune/search/exhaustive.h"
#include "tune/search/gaussian_process.h"
#include "tune/search/mode.h"
#include "tune/search/permutation.h"
#include "tune/search/replay.h"

#include <gtest/gtest.h>

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace attune::tune {
namespace {

TEST(IndexPermutation, visits_everything_once) {
  for (const uint64_t size : {1u, 2u, 5u, 64u, 1000u, 4097u}) {
    const IndexPermutation order(size, 42);
    std::set<uint64_t> seen;
    for (uint64_t i = 0; i < size; ++i) seen.insert(order(i));
    EXPECT_EQ(seen.size(), size);
    EXPECT_LT(*seen.rbegin(), size);
  }
}

TEST(IndexPermutation, puts_every_point_first_equally_often) {
  constexpr int kSeeds = 20'000, kSize = 10;
  std::vector<int> first(kSize);
  for (int seed = 0; seed < kSeeds; ++seed)
    ++first[IndexPermutation(kSize, static_cast<uint64_t>(seed) * 0x9e3779b97f4a7c15u)(0)];
  for (const int hits : first) EXPECT_NEAR(hits, kSeeds / kSize, 250);
}

TEST(ExhaustiveSearch, covers_the_space_evenly_from_the_start) {
  std::vector<Config> configs;
  for (int i = 0; i < 1000; ++i) configs.push_back({{"x", std::to_string(i)}});
  const Space space = Space::of_list(configs);
  ExhaustiveSearch search(space, {});
  std::vector<uint64_t> points = search.ask(50);
  std::ranges::sort(points);
  uint64_t gap = points.front() + 1000 - points.back();
  for (size_t i = 1; i < points.size(); ++i) gap = std::max(gap, points[i] - points[i - 1]);
  EXPECT_LE(gap, 60u);  // 20 on average; at random about 90
}

TEST(GaussianProcess, goes_through_what_it_was_shown_and_knows_where_it_was_not) {
  GaussianProcess process({0});
  GaussianProcess::Rows rows;
  std::vector<double> values;
  for (double x = 0; x <= 1; x += 0.1) {
    rows.push_back({x});
    values.push_back(std::sin(6 * x));
  }
  process.fit(rows, values, 0.01);
  process.choose_scales();
  for (double x = 0.05; x < 1; x += 0.1) EXPECT_NEAR(process.predict({{x}})[0].mean, std::sin(6 * x), 0.02) << x;
  EXPECT_LT(process.predict({{0.5}})[0].deviation, 0.05);
  EXPECT_GT(process.predict({{3.0}})[0].deviation, 0.3);
}

TEST(GaussianProcess, learns_which_features_matter) {
  GaussianProcess process({0, 1});
  Random random(1);
  GaussianProcess::Rows rows;
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) {
    rows.push_back({random.uniform(), random.uniform()});
    values.push_back(std::sin(9 * rows.back()[0]));
  }
  process.fit(rows, values, 0.01);
  process.choose_scales();
  process.choose_scales();
  double error = 0;
  for (int i = 0; i < 20; ++i) {
    const double x = 0.1 + 0.8 * random.uniform();
    error = std::max(error, std::abs(process.predict({{x, random.uniform()}})[0].mean - std::sin(9 * x)));
  }
  EXPECT_LT(error, 0.2) << "seed 1";
}

TEST(ExpectedImprovement, prefers_the_better_and_the_less_known) {
  EXPECT_GT(expected_improvement({1, 0.1}, 2), expected_improvement({1.5, 0.1}, 2));
  EXPECT_GT(expected_improvement({2, 0.5}, 2), expected_improvement({2, 0.1}, 2));
  EXPECT_LT(expected_improvement({9, 0.1}, 2), 1e-9);
}

TEST(TuneMode, reads_the_words_of_the_seeds) {
  EXPECT_TRUE(parse_tune_mode("NO_TUNE").is_off());
  EXPECT_EQ(parse_tune_mode("RL"), (TuneMode{true, false}));
  EXPECT_EQ(parse_tune_mode("ga"), (TuneMode{false, true}));
  EXPECT_EQ(parse_tune_mode("RL,GA"), (TuneMode{true, true}));
  EXPECT_EQ(parse_tune_mode("GA, RL"), (TuneMode{true, true}));
  for (const char* wrong : {"", "RL,", "SA", "RL,RL", "NO_TUNE,GA", "RL;GA"})
    EXPECT_THROW(parse_tune_mode(wrong), UserError) << wrong;
}

TEST(TuneMode, gives_cube_operators_the_genetic_search_and_vector_ones_the_policy) {
  const TuneMode both = parse_tune_mode("RL,GA");
  EXPECT_EQ(searcher_for(both, OperatorKind::cube), "genetic");
  EXPECT_EQ(searcher_for(both, OperatorKind::vector), "rl");
  EXPECT_EQ(searcher_for(parse_tune_mode("RL"), OperatorKind::cube), "");
  EXPECT_EQ(searcher_for(parse_tune_mode("GA"), OperatorKind::vector), "");
}

constexpr const char* kTable = "# a table\ntile,order,depth,ms\n8,m-n,,1.5\n16,m-n,2,0.5\n32,n-m,,crashed\n";

TEST(ReplayTable, answers_what_was_recorded) {
  const auto table = ReplayTable::parse(kTable, "here");
  ASSERT_EQ(table.space().size(), 3u);
  EXPECT_EQ(table.best(), 0.5);
  EXPECT_EQ(table.sorted_times(), (std::vector<double>{0.5, 1.5}));
  const uint64_t good = table.space().index_of(Config{{"tile", "16"}, {"order", "m-n"}, {"depth", "2"}}).value();
  EXPECT_EQ(table.measure(good).cost, 0.5);
  const uint64_t bad = table.space().index_of(Config{{"tile", "32"}, {"order", "n-m"}}).value();
  EXPECT_EQ(table.measure(bad).outcome, Outcome::crashed);
}

TEST(ReplayTable, reads_compressed_files) {
  const std::string path = std::filesystem::temp_directory_path() / "attune_replay_test.csv.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, kTable);
  gzclose(file);
  EXPECT_EQ(ReplayTable::read(path).space().size(), 3u);
  std::filesystem::remove(path);
  EXPECT_THROW(ReplayTable::read(path), UserError);
}

TEST(ReplayTable, names_the_line_that_is_wrong) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      ReplayTable::parse(text, "t.csv");
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("a,ms\n1,2\n3\n"), "t.csv:3: 1 values for 2 columns");
  EXPECT_EQ(message("a,ms\n1,fast\n"), "t.csv:2: 'fast' is neither a time above zero nor an outcome");
  EXPECT_EQ(message("a,ms\n1,-2\n"), "t.csv:2: '-2' is neither a time above zero nor an outcome");
  EXPECT_NE(message("a,ms\n1,crashed\n"), "");
  EXPECT_NE(message(""), "");
}

}  // namespace
}  // namespace attune::tune
