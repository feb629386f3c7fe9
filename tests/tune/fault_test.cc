// Broken kernels never end a run, never win and cost one trial each.
#include "base/random.h"
#include "tune/hostile_provider.h"
#include "tune/measure/measurer.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>

namespace attune::testing {
namespace {

using namespace tune;

constexpr int kTimesEach = 20;

Trial hostile(std::string_view kind) { return {"hostile", {{"kind", std::string(kind)}}}; }

MeasureTask relu() { return {parse_workload("Relu@14(f32[16x100]) -> (f32[16x100]) {}"), {}}; }

MeasurerOptions short_patience() {
  MeasurerOptions options;
  options.threads = 2;
  options.timeouts.build = options.timeouts.verify = options.timeouts.time = std::chrono::milliseconds(300);
  options.memory_limit_bytes = int64_t{512} << 20;
  options.ceilings = {{"f32", 1e6}};  // none of these tests is about speed
  return options;
}

LadderOptions quick() {
  LadderOptions ladder;
  ladder.min_sample_us = 20;
  ladder.abort_ratio = 1e9;
  ladder.rungs = {{9, 1e9}};
  return ladder;
}

/// Every kind as often, in an order drawn by seed, and a good one after each.
std::vector<Trial> shuffled_trials(uint64_t seed) {
  std::vector<Trial> bad;
  for (const std::string_view kind : hostile_kinds())
    for (int i = 0; i < kTimesEach; ++i) bad.push_back(hostile(kind));
  Random random(seed);
  for (size_t i = bad.size(); i > 1; --i)
    std::swap(bad[i - 1], bad[static_cast<size_t>(random.below(static_cast<int64_t>(i)))]);
  std::vector<Trial> all;
  for (Trial& trial : bad) {
    all.push_back(std::move(trial));
    all.push_back(hostile("good"));
  }
  return all;
}

TEST(Faults, broken_kernels_never_end_a_run_never_win_and_cost_one_trial_each) {
  const uint64_t seed = 20240611;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  ASSERT_GE(hostile_kinds().size(), 15U);
  Measurer measurer(short_patience());
  const std::vector<Trial> trials = shuffled_trials(seed);
  const Measurement measured = measurer.measure(relu(), hostile("good"), trials, quick());
  ASSERT_EQ(measured.anchor.outcome, Outcome::ok) << measured.anchor.message;
  ASSERT_EQ(measured.trials.size(), trials.size());
  std::map<std::string, std::map<std::string, int>> outcomes;
  int64_t bad = 0;
  for (size_t i = 0; i < trials.size(); ++i) {
    const TrialResult& result = measured.trials[i];
    const std::string& kind = trials[i].config.at("kind");
    if (kind == "good") {
      EXPECT_EQ(result.outcome, Outcome::ok) << "after '" << trials[i - 1].config.at("kind")
                                             << "': " << stage_name(result.stage) << ": " << result.message;
      EXPECT_EQ(result.max_error, 0);
      continue;
    }
    ++bad;
    EXPECT_NE(result.outcome, Outcome::ok) << kind;
    EXPECT_NE(result.outcome, Outcome::infrastructure) << kind << ": " << result.message;
    EXPECT_FALSE(result.message.empty()) << kind;
    EXPECT_TRUE(result.log_ratios.empty()) << kind;
    ++outcomes[kind][std::string(outcome_name(result.outcome))];
  }
  EXPECT_LE(measurer.counts().workers_started, bad + 1);
  EXPECT_EQ(measurer.counts().failed_trials, bad);
  for (const auto& [kind, counts] : outcomes)
    for (const auto& [outcome, count] : counts) std::printf("%-34s %-14s %d\n", kind.c_str(), outcome.c_str(), count);
}

struct ExpectedOutcome {
  std::string_view kind;
  Outcome outcome;
  Stage stage;
  std::string_view words;
};

TEST(Faults, are_told_apart) {
  const ExpectedOutcome expected[] = {
      {"segfault", Outcome::crashed, Stage::verify, "signal 11"},
      {"abort", Outcome::crashed, Stage::verify, "signal 6"},
      {"exits", Outcome::crashed, Stage::verify, "exited with status 0"},
      {"throws", Outcome::wrong, Stage::verify, "a kernel that gives up"},
      {"hangs", Outcome::timed_out, Stage::verify, "no answer after"},
      {"stops itself", Outcome::timed_out, Stage::verify, "no answer after"},
      {"writes before", Outcome::wrong, Stage::verify, "beside output 0"},
      {"writes after", Outcome::wrong, Stage::verify, "beside output 0"},
      {"changes its input", Outcome::wrong, Stage::verify, "changed the input"},
      {"returns NaN", Outcome::wrong, Stage::verify, "got nan"},
      {"depends on the run", Outcome::wrong, Stage::verify, "gave other bits"},
      // Its results are those of the memory's last contents, so the message depends on which memory it gets.
      {"returns stale results", Outcome::wrong, Stage::verify, "output 0, element"},
      {"takes all memory", Outcome::out_of_memory, Stage::verify, "memory"},
      {"writes into the connection", Outcome::crashed, Stage::verify, "wrote into the connection"},
      {"closes everything", Outcome::crashed, Stage::verify, "exited with status"},
      {"opens files", Outcome::wrong, Stage::verify, "files open"},
      {"leaves threads behind", Outcome::wrong, Stage::verify, "more threads running"},
      {"changes rounding", Outcome::wrong, Stage::verify, "rounds"},
      {"crashes when it is built", Outcome::crashed, Stage::build, "signal 6"},
      {"hangs when it is built", Outcome::timed_out, Stage::build, "no answer after"},
      {"cannot be built", Outcome::compile_failed, Stage::build, "a compiler that gives up"},
      {"unknown", Outcome::refused, Stage::build, "no kind"},
      {"crashes when it is timed", Outcome::crashed, Stage::time, "signal 6"},
      {"hangs when it is timed", Outcome::timed_out, Stage::time, "no answer after"},
      {"stops computing when it is timed", Outcome::wrong, Stage::time, "after it was timed"},
  };
  Measurer measurer(short_patience());
  std::vector<Trial> trials;
  for (const ExpectedOutcome& one : expected) trials.push_back(hostile(one.kind));
  const Measurement measured = measurer.measure(relu(), hostile("good"), trials, quick());
  ASSERT_EQ(measured.trials.size(), trials.size()) << measured.anchor.message;
  for (size_t i = 0; i < trials.size(); ++i) {
    const TrialResult& result = measured.trials[i];
    EXPECT_EQ(outcome_name(result.outcome), outcome_name(expected[i].outcome)) << expected[i].kind << result.message;
    EXPECT_EQ(stage_name(result.stage), stage_name(expected[i].stage)) << expected[i].kind;
    EXPECT_NE(result.message.find(expected[i].words), std::string::npos) << expected[i].kind << ": " << result.message;
  }
}

TEST(Faults, a_finalist_that_crashes_drops_out_and_the_others_are_judged) {
  Measurer measurer(short_patience());
  FinalsOptions options;
  options.min_sample_us = 50;
  const Trial finalists[] = {hostile("good"), hostile("crashes when it is timed"), hostile("hangs when it is timed")};
  const Finals finals = measurer.finals(relu(), hostile("good"), finalists, options);
  EXPECT_EQ(finals.problem, "");
  EXPECT_GE(finals.rounds, 3);
  EXPECT_EQ(finals.finalists[0].outcome, Outcome::ok);
  EXPECT_EQ(finals.finalists[1].outcome, Outcome::crashed);
  EXPECT_EQ(finals.finalists[2].outcome, Outcome::timed_out);
  EXPECT_FALSE(finals.finalists[0].log_ratios.at(0).empty());
}

TEST(Faults, a_broken_anchor_is_reported_and_nothing_is_tried) {
  Measurer measurer(short_patience());
  const Trial candidates[] = {hostile("good")};
  const Measurement measured = measurer.measure(relu(), hostile("segfault"), candidates, quick());
  EXPECT_EQ(measured.anchor.outcome, Outcome::crashed);
  EXPECT_TRUE(measured.trials.empty());
}

TEST(Faults, no_process_outlives_the_measurer) {
  const auto children = [] {
    std::string path = fmt::format("/proc/self/task/{}/children", getpid());
    std::string text;
    if (std::FILE* file = std::fopen(path.c_str(), "r")) {
      char buffer[256];
      while (std::fgets(buffer, sizeof buffer, file) != nullptr) text += buffer;
      std::fclose(file);
    }
    return text;
  };
  {
    Measurer measurer(short_patience());
    EXPECT_NE(children(), "");
    const Trial candidates[] = {hostile("hangs"), hostile("stops itself")};
    measurer.measure(relu(), hostile("good"), candidates, quick());
  }
  EXPECT_EQ(children(), "");
}

}  // namespace
}  // namespace attune::testing
