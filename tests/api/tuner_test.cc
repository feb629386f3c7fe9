// Tuning a computation of the user's, by the public interface alone.
#include <attune/attune.h>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

namespace {

namespace fs = std::filesystem;
using attune::Choice;
using attune::Computation;
using attune::Config;
using attune::Match;
using attune::Param;
using attune::Shape;
using attune::Space;
using attune::TrialOutcome;
using attune::TunedShape;
using attune::TuneOptions;
using attune::Tuner;
using attune::TuneSummary;
using attune::TuneTrial;
using attune::UserError;

class TunerTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("attune_tuner_" + std::string(info->name()) + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  fs::path folder_;
};

template <class Body> std::string message_of(const Body& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

Space tile_space(int64_t most) {
  Space space;
  const Param bm = space.power_of_two("bm", 1, 64), bn = space.power_of_two("bn", 1, 64);
  space.boolean("pack");
  space.permutation("order", {"m", "n", "k"});
  space.require(bm * bn <= most, "the tile fits");
  space.set_default({{"bm", 1}, {"bn", 1}, {"pack", false}, {"order", "m-n-k"}});
  return space;
}

/// Known times instead of measured ones: best at bm = 8, bn = size / 8, packed.
Computation made_up() {
  Computation computation;
  computation.name = "made_up";
  computation.dims = {"size"};
  computation.space = [](const Shape& shape) { return tile_space(shape[0]); };
  computation.evaluate = [](const Shape& shape, const Config& config) {
    const double bm = std::log2(static_cast<double>(config.number("bm"))) - 3;
    const double bn = std::log2(static_cast<double>(config.number("bn") * 8) / static_cast<double>(shape[0]));
    return 1000 * (1 + bm * bm + bn * bn) * (config.flag("pack") ? 1 : 1.5) *
           (config.order("order").front() == "k" ? 1 : 1.2);
  };
  return computation;
}

TEST(Space, holds_only_what_its_constraints_allow) {
  Space space = tile_space(16);
  EXPECT_EQ(space.size(), 15u * 2 * 6);  // pairs of powers of two with a product of at most 16: 5 + 4 + 3 + 2 + 1
  for (uint64_t i = 0; i < space.size(); ++i) {
    const Config config = space.at(i);
    EXPECT_LE(config.number("bm") * config.number("bn"), 16);
    EXPECT_EQ(config.order("order").size(), 3u);
  }
  EXPECT_NE(space.why_invalid({{"bm", 64}, {"bn", 64}, {"pack", true}, {"order", "m-n-k"}}).find("the tile fits"),
            std::string::npos);
  EXPECT_EQ(space.why_invalid(space.default_config()), "");
  EXPECT_FALSE(space.contains({{"bm", 64}}));
  EXPECT_THROW(space.at(space.size()), UserError);
  EXPECT_THROW(space.boolean("late"), UserError);
}

TEST(Space, knows_conditions_texts_and_functions) {
  Space space;
  const Param layout = space.categorical("layout", {"plain", "packed"});
  const Param panel = space.ordinal("panel", {8, 12, 16});
  const Param order = space.permutation("order", {"m", "n", "k"});
  space.only_if(panel, layout == "packed");
  space.require(order.position("k") > 0, "sums stay in registers");
  space.require(
      {panel}, [](const std::vector<int64_t>& numbers) { return numbers[0] % 8 == 0; }, "whole vectors");
  space.set_default({{"layout", "plain"}, {"order", "m-n-k"}});
  EXPECT_EQ(space.size(), (1u + 2) * 4);
  EXPECT_TRUE(space.contains({{"layout", "packed"}, {"panel", 16}, {"order", "m-k-n"}}));
  EXPECT_FALSE(space.contains({{"layout", "plain"}, {"panel", 16}, {"order", "m-n-k"}}));
  EXPECT_NE(space.explain().find("whole vectors"), std::string::npos);
}

TEST(Space, without_a_default_or_with_one_that_is_not_valid_is_refused) {
  Space without;
  without.boolean("a");
  EXPECT_THROW(without.size(), UserError);
  Space invalid;
  invalid.require(invalid.ordinal("a", {1, 2}) > 1, "more");
  invalid.set_default({{"a", 1}});
  EXPECT_NE(message_of([&] { invalid.size(); }).find("more"), std::string::npos);
}

TEST(Config, says_what_it_lacks) {
  const Config config{{"a", 3}, {"b", "m-n"}};
  EXPECT_EQ(config.number("a"), 3);
  EXPECT_NE(message_of([&] { config.number("c"); }).find("'c'"), std::string::npos);
  EXPECT_NE(message_of([&] { config.number("b"); }).find("not a number"), std::string::npos);
  EXPECT_NE(message_of([&] { config.flag("a"); }).find("not 0 or 1"), std::string::npos);
  EXPECT_THROW((Config{{"a", 1}, {"a", 2}}), UserError);
}

TEST_F(TunerTest, finds_the_best_of_each_shape_and_of_all) {
  const Tuner tuner(made_up());
  TuneOptions options;
  options.algorithm = "exhaustive";
  options.trials = 5000;
  const TuneSummary summary = tuner.search({{{64}, 3}, {{128}, 1}}, options);
  ASSERT_EQ(summary.shapes.size(), 2u);
  const auto expect_best = [](const TunedShape& shape, int64_t bn) {
    EXPECT_EQ(shape.config.number("bm"), 8);
    EXPECT_EQ(shape.config.number("bn"), bn);
    EXPECT_TRUE(shape.config.flag("pack"));
    EXPECT_FALSE(shape.is_default);
    EXPECT_NEAR(shape.time_ns, 1000, 1e-6);
    EXPECT_NEAR(shape.speedup, shape.default_ns / 1000, 1e-6);
  };
  expect_best(summary.shapes[0], 8);
  expect_best(summary.shapes[1], 16);
  // Three to one, the first shape's best is worth more; it is a point of both spaces.
  ASSERT_TRUE(summary.has_overall);
  EXPECT_EQ(summary.overall.number("bn"), 8);
  EXPECT_GT(summary.overall_speedup, 1);
}

TEST_F(TunerTest, spends_no_more_trials_than_allowed_and_shares_them_by_weight) {
  const Tuner tuner(made_up());
  for (const char* algorithm : {"auto", "random", "genetic", "rl", "tpe", "gp"}) {
    TuneOptions options;
    options.algorithm = algorithm;
    options.trials = 50;
    int64_t trials = 0;
    options.on_trial = [&](const TuneTrial&) { ++trials; };
    const TuneSummary summary = tuner.search({{{64}, 3}, {{256}, 1}}, options);
    EXPECT_LE(trials, 50) << algorithm;
    EXPECT_GE(trials, 35) << algorithm;
    EXPECT_GT(summary.shapes[0].trials, 2 * summary.shapes[1].trials - 12) << algorithm;
    EXPECT_GT(summary.shapes[0].speedup, 1) << algorithm;
  }
}

TEST_F(TunerTest, calls_what_differs_by_noise_alone_the_default) {
  Computation same = made_up();
  uint64_t state = 1;  // its own in every child: drawn again from the address of the configuration's text
  same.evaluate = [state](const Shape&, const Config& config) mutable {
    for (const char c : config.to_text()) state = state * 6364136223846793005u + static_cast<unsigned char>(c);
    state = state * 6364136223846793005u + 1442695040888963407u;
    return 1000 * (1 + 0.1 * static_cast<double>(state >> 40) / 16777216);
  };
  TuneOptions options;
  options.trials = 60;
  options.isolation = attune::Isolation::none;
  const TuneSummary summary = Tuner(same).search({{{64}, 1}}, options);
  EXPECT_TRUE(summary.shapes[0].is_default) << summary.shapes[0].speedup;
}

TEST_F(TunerTest, survives_candidates_that_throw_crash_hang_and_lie) {
  Computation computation;
  computation.name = "hostile";
  computation.dims = {"n"};
  computation.space = [](const Shape&) {
    Space space;
    space.categorical("what", {"fine", "throws", "crashes", "hangs", "lies", "lies_later", "exits", "eats"});
    space.set_default({{"what", "fine"}});
    return space;
  };
  computation.build = [](const Shape&, const Config& config) {
    const std::string what = config.text("what");
    if (what == "throws") throw std::runtime_error("cannot be built");
    auto calls = std::make_shared<int>(0);
    attune::Candidate candidate;
    candidate.run = [what, calls] {
      ++*calls;
      if (what == "crashes") std::raise(SIGSEGV);
      if (what == "exits") _exit(0);
      if (what == "eats") throw std::bad_alloc();
      while (what == "hangs") std::this_thread::sleep_for(std::chrono::milliseconds(10));
    };
    candidate.check = [what, calls] {
      return std::string(what == "lies" || (what == "lies_later" && *calls > 3) ? "0 instead of 1" : "");
    };
    return candidate;
  };
  std::map<std::string, TrialOutcome> outcomes;
  TuneOptions options;
  options.timeout_s = 1;
  options.on_trial = [&](const TuneTrial& trial) { outcomes[trial.config.text("what")] = trial.outcome; };
  const TuneSummary summary = Tuner(computation).search({{{1}, 1}}, options);
  const std::map<std::string, TrialOutcome> expected = {
      {"fine", TrialOutcome::ok},         {"throws", TrialOutcome::refused},    {"crashes", TrialOutcome::crashed},
      {"hangs", TrialOutcome::timed_out}, {"lies", TrialOutcome::wrong},        {"lies_later", TrialOutcome::wrong},
      {"exits", TrialOutcome::crashed},   {"eats", TrialOutcome::out_of_memory}};
  EXPECT_EQ(outcomes, expected);
  EXPECT_TRUE(summary.shapes[0].is_default);
  EXPECT_EQ(summary.shapes[0].failed_trials, 7);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // nobody is left
}

TEST_F(TunerTest, keeps_a_record_and_measures_nothing_twice) {
  const Tuner tuner(made_up());
  TuneOptions options;
  options.record = path("record.json");
  options.trials = 20;
  std::set<std::string> measured;
  int64_t reused = 0;
  options.on_trial = [&](const TuneTrial& trial) {
    if (trial.reused)
      ++reused;
    else
      EXPECT_TRUE(measured.insert(std::to_string(trial.shape[0]) + trial.config.to_text()).second);
    EXPECT_TRUE(fs::exists(options.record));
  };
  const TuneSummary first = tuner.search({{{64}, 1}, {{256}, 1}}, options);
  const size_t before = measured.size();
  EXPECT_EQ(reused, 0);
  tuner.search({{{64}, 1}, {{256}, 1}}, options);
  EXPECT_EQ(measured.size(), before) << "the same call again has nothing left to do";
  EXPECT_EQ(reused, static_cast<int64_t>(before));
  options.trials = 40;
  const TuneSummary more = tuner.search({{{64}, 1}, {{256}, 1}}, options);
  EXPECT_GT(measured.size(), before);
  EXPECT_GE(more.shapes[0].speedup, first.shapes[0].speedup);
  // Another set of shapes leaves the others in the file.
  tuner.search({{{32}, 1}}, options);
  EXPECT_EQ(tuner.apply(options.record).summary().shapes.size(), 3u);
}

TEST_F(TunerTest, applies_the_exact_shape_then_the_nearest_then_the_default_and_says_so) {
  const Tuner tuner(made_up());
  TuneOptions options;
  options.algorithm = "exhaustive";
  options.trials = 5000;
  options.record = path("record.json");
  tuner.search({{{64}, 1}, {{256}, 1}}, options);
  const attune::TunedComputation tuned = tuner.apply(options.record);

  const Choice exact = tuned.choose({64});
  EXPECT_EQ(exact.match, Match::exact);
  EXPECT_EQ(exact.config.number("bn"), 8);
  const Choice near = tuned.choose({80});
  EXPECT_EQ(near.match, Match::nearest);
  EXPECT_EQ(near.measured_shape, Shape{64});
  EXPECT_EQ(near.config, exact.config);
  EXPECT_NE(near.why.find("size=80 was not measured"), std::string::npos) << near.why;
  // At 40 neither best fits the tile: 8 x 8 and 8 x 32 are more.
  const Choice none = tuned.choose({40});
  EXPECT_EQ(none.match, Match::none);
  EXPECT_EQ(none.config.number("bm"), 1);
  EXPECT_THROW(tuned.choose({1, 2}), UserError);
}

/// The record with one text replaced by another.
std::string replaced(const std::string& path, const std::string& from, const std::string& to) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::string result = text.str();
  const size_t at = result.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  result.replace(at, from.size(), to);
  std::ofstream(path + ".changed") << result;
  return path + ".changed";
}

TEST_F(TunerTest, applies_nothing_of_another_device_version_or_computation) {
  const Tuner tuner(made_up());
  TuneOptions options;
  options.record = path("record.json");
  tuner.search({{{64}, 1}}, options);
  const Choice device = tuner.apply(replaced(options.record, "cpu vendor=", "cpu vendor=Other")).choose({64});
  EXPECT_EQ(device.match, Match::none);
  EXPECT_NE(device.why.find("another device"), std::string::npos) << device.why;
  Computation newer = made_up();
  newer.version = "2";
  const Choice version = Tuner(newer).apply(options.record).choose({64});
  EXPECT_EQ(version.match, Match::none);
  EXPECT_NE(version.why.find("version '2'") == std::string::npos && version.why.find("'2'") == std::string::npos, true);
  Computation other = made_up();
  other.name = "other";
  EXPECT_NE(message_of([&] { Tuner(other).apply(options.record); }).find("'made_up'"), std::string::npos);
  options.record = path("record.json");
  EXPECT_NE(message_of([&] {
              Tuner(other).search({{{64}, 1}}, options);
            }).find("a file of its own"),
            std::string::npos);
}

TEST_F(TunerTest, refuses_damaged_records_and_leaves_them_as_they_are) {
  const Tuner tuner(made_up());
  for (const char* text : {"", "[]", "{}", "{\"attune_record\": 99}", "not json"}) {
    std::ofstream(path("bad.json")) << text;
    const std::string message = message_of([&] { tuner.apply(path("bad.json")); });
    EXPECT_NE(message.find("bad.json"), std::string::npos) << message;
    TuneOptions options;
    options.record = path("bad.json");
    EXPECT_THROW(tuner.search({{{64}, 1}}, options), UserError) << text;
    std::ostringstream after;
    after << std::ifstream(path("bad.json")).rdbuf();
    EXPECT_EQ(after.str(), text);
  }
  EXPECT_NE(message_of([&] { tuner.apply(path("missing.json")); }).find("missing.json"), std::string::npos);
}

TEST_F(TunerTest, refuses_what_cannot_be_tuned_in_words) {
  const auto refusal = [](const Computation& computation, const std::vector<attune::WeightedShape>& shapes,
                          const TuneOptions& options = {}) {
    return message_of([&] { Tuner(computation).search(shapes, options); });
  };
  EXPECT_NE(refusal(made_up(), {}).find("no shapes"), std::string::npos);
  EXPECT_NE(refusal(made_up(), {{{64}, 0}}).find("weight"), std::string::npos);
  EXPECT_NE(refusal(made_up(), {{{64}, 1}, {{64}, 2}}).find("twice"), std::string::npos);
  EXPECT_NE(refusal(made_up(), {{{64, 2}, 1}}).find("2 dims"), std::string::npos);
  EXPECT_NE(refusal(made_up(), {{{0}, 1}}).find("the tile fits"), std::string::npos);
  TuneOptions unknown;
  unknown.algorithm = "genetics";
  EXPECT_NE(refusal(made_up(), {{{64}, 1}}, unknown).find("genetic"), std::string::npos);
  Computation nothing = made_up();
  nothing.evaluate = nullptr;
  EXPECT_NE(refusal(nothing, {{{64}, 1}}).find("`build`"), std::string::npos);
  Computation broken = made_up();
  broken.evaluate = [](const Shape&, const Config&) -> double { throw std::runtime_error("no device"); };
  EXPECT_NE(refusal(broken, {{{64}, 1}}).find("no device"), std::string::npos);
  Computation timeless = made_up();
  timeless.evaluate = [](const Shape&, const Config&) { return 0.0; };
  EXPECT_NE(refusal(timeless, {{{64}, 1}}).find("0 ns"), std::string::npos);
}

TEST(SpreadShapes, covers_a_box_in_equal_ratios) {
  const auto shapes = attune::spread_shapes({{2, 4096}, {1, 1}}, 3);
  ASSERT_EQ(shapes.size(), 3u);
  EXPECT_EQ(shapes[0].shape, (Shape{2, 1}));
  EXPECT_EQ(shapes[1].shape, (Shape{91, 1}));
  EXPECT_EQ(shapes[2].shape, (Shape{4096, 1}));
  EXPECT_THROW(attune::spread_shapes({{4, 2}}, 2), UserError);
}

}  // namespace
