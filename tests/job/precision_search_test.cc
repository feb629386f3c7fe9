// The search for what may compute in bf16, on made-up models whose errors and times are known.
#include "job/precision/precision_search.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <numeric>
#include <thread>

namespace attune {
namespace {

SessionComparison runs_of(double ratio) {
  SessionComparison runs;
  runs.before_ms.assign(8, ratio);
  runs.after_ms.assign(8, 1);
  runs.summarize();
  return runs;
}

/// Errors of regions add up.
class MadeUpModel final : public PrecisionTrials {
 public:
  MadeUpModel(std::vector<double> region_errors, std::vector<double> saved)
      : errors(std::move(region_errors)), saved_ms(std::move(saved)) {}

  size_t region_count() const override { return errors.size(); }
  double error(const Lowered& lowered, InputChoice inputs) override {
    asked = lowered;
    alone += inputs == InputChoice::first;
    std::this_thread::sleep_for(trial);
    const double factor = inputs == InputChoice::all ? known_factor : 1;
    return factor * std::accumulate(lowered.begin(), lowered.end(), 0.0,
                                    [&](double sum, size_t region) { return sum + errors[region]; });
  }
  double new_error(const Lowered& lowered) override {
    known_factor = std::max(known_factor, new_factor);
    return new_factor * error(lowered, InputChoice::first);
  }
  LoweredRuns compare(const Lowered& lowered, double) override {
    asked = lowered;
    double after = 10;
    for (const size_t region : lowered) after -= saved_ms[region];
    return {runs_of(is_slow_together && lowered.size() < errors.size() ? 0.9 : 10 / after), saved_ms};
  }

  std::vector<double> errors, saved_ms;
  double known_factor = 1, new_factor = 1;  // how much larger errors are on all inputs and on new ones
  bool is_slow_together = false;            // parts of the model in bf16 are slower than none
  int alone = 0;
  std::chrono::milliseconds trial{0};
  Lowered asked;
};

PrecisionDecision search(MadeUpModel& model, double budget, double seconds = 60) {
  const JobClock clock(seconds, [] { return false; });
  PrecisionSearchOptions options;
  options.accuracy_budget = budget;
  return PrecisionSearch(model, clock, options).run();
}

TEST(PrecisionSearch, takes_everything_where_everything_holds_the_budget) {
  MadeUpModel model({0.01, 0.01, 0.01}, {1, 1, 1});
  const PrecisionDecision decision = search(model, 0.05);
  EXPECT_EQ(decision.lowered, (Lowered{0, 1, 2}));
  EXPECT_NEAR(decision.error, 0.03, 1e-12);
  EXPECT_EQ(model.asked, decision.lowered);
  EXPECT_NEAR(decision.runs.ratio, 10.0 / 7, 1e-9);
}

TEST(PrecisionSearch, takes_what_saves_most_for_its_error) {
  MadeUpModel model({0.03, 0.02, 0.5, 0.03}, {3, 1, 4, 0.1});
  const PrecisionDecision decision = search(model, 0.06);
  EXPECT_EQ(decision.lowered, (Lowered{0, 1}));
  EXPECT_EQ(model.alone, 4 + 1) << "each region once, and the new inputs";
}

TEST(PrecisionSearch, goes_on_after_one_that_does_not_fit) {
  MadeUpModel model({0.01, 0.08, 0.02}, {1, 5, 1});
  EXPECT_EQ(search(model, 0.05).lowered, (Lowered{0, 2}));
}

TEST(PrecisionSearch, keeps_f32_where_nothing_holds_the_budget) {
  MadeUpModel model({0.03, 0.02}, {1, 1});
  const PrecisionDecision decision = search(model, 1e-6);
  EXPECT_TRUE(decision.lowered.empty());
  EXPECT_EQ(decision.error, 0);
  EXPECT_NE(decision.reason.find("0.02"), std::string::npos) << decision.reason;
}

TEST(PrecisionSearch, keeps_f32_where_bf16_is_not_faster) {
  MadeUpModel slower({0.01, 0.01}, {-1, -2});
  EXPECT_TRUE(search(slower, 1).lowered.empty());
  EXPECT_EQ(slower.alone, 0) << "no question that cannot matter";

  MadeUpModel model({0.01, 0.5}, {1, 1});
  model.is_slow_together = true;
  const PrecisionDecision decision = search(model, 0.1);
  EXPECT_TRUE(decision.lowered.empty());
  EXPECT_NE(decision.reason.find("not faster"), std::string::npos) << decision.reason;
}

TEST(PrecisionSearch, leaves_out_what_is_slower_in_bf16_where_that_is_faster) {
  MadeUpModel model({0.01, 0.01, 0.01}, {4, -3, 1});
  EXPECT_EQ(search(model, 1).lowered, (Lowered{0, 2}));
}

TEST(PrecisionSearch, takes_less_when_new_inputs_break_the_budget) {
  MadeUpModel model({0.02, 0.02, 0.02}, {3, 2, 1});
  model.new_factor = 1.5;
  const PrecisionDecision decision = search(model, 0.07);
  EXPECT_EQ(decision.lowered, (Lowered{0, 1}));
  EXPECT_NEAR(decision.error, 0.06, 1e-12) << "the largest seen";

  MadeUpModel hopeless({0.02, 0.02}, {1, 1});
  hopeless.new_factor = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(search(hopeless, 0.05).lowered.empty());
}

TEST(PrecisionSearch, asks_for_groups_where_there_is_no_time_for_each) {
  MadeUpModel model(std::vector<double>(400, 0.01), std::vector<double>(400, 0.01));
  model.errors[40] = 50;
  model.trial = std::chrono::milliseconds(10);
  const PrecisionDecision decision = search(model, 30, 1);
  EXPECT_LE(model.alone, 100);
  EXPECT_FALSE(decision.lowered.empty());
  EXPECT_EQ(decision.lowered.count(40), 0u);
  EXPECT_TRUE(search(model, 30, 1e-9).lowered.empty()) << "no time at all";
}

TEST(PrecisionSearch, ends_when_it_is_interrupted) {
  MadeUpModel model({0.01}, {1});
  const JobClock clock(60, [] { return true; });
  const PrecisionDecision decision = PrecisionSearch(model, clock, {}).run();
  EXPECT_TRUE(decision.interrupted);
  EXPECT_TRUE(decision.lowered.empty());
}

TEST(PrecisionSearch, has_nothing_to_do_without_products) {
  MadeUpModel model({}, {});
  EXPECT_NE(search(model, 1).reason.find("no product"), std::string::npos);
}

}  // namespace
}  // namespace attune
