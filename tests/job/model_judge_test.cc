// The judge of whole models over a model that is made up: what a kernel saves at its steps, what it costs elsewhere,
// and how much the clock trembles are known.
#include "job/model_judge.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attune {
namespace {

constexpr double kTaskMs = 1;

tune::Trial kernel(const std::string& name) { return {"fake", {{"kernel", name}}}; }

struct FakeKernel {
  double own_ratio = 1;       // time of its steps over that of the default's
  double hidden_cost_ms = 0;  // that no step near it shows
  bool is_unfit = false;      // the model computes something else with it
};

class FakeModel final : public ModelRunner {
 public:
  FakeModel(size_t tasks, double tremble, uint64_t seed) : tasks_(tasks), tremble_(tremble), random_(seed) {}

  void add(size_t task, const std::string& name, FakeKernel kernel) { kernels_[{task, name}] = kernel; }

  ModelRun run(const Choices& choices, const ModelRunOptions& options) override {
    ++runs;
    ModelRun result;
    for (const auto& [task, trial] : choices)
      if (kernels_.at({task, trial.config.at("kernel")}).is_unfit) result.problem = "output 'y' differs";
    if (!result.problem.empty()) return result;
    const double luck_ms = options.placement == Placement::fresh ? 0 : lucky_ms;
    constexpr int kRounds = 25;
    for (int round = 0; round < kRounds; ++round) {
      double before = 0, after = -luck_ms;
      for (size_t task = 0; task < tasks_; ++task) {
        const auto chosen = choices.find(task);
        const FakeKernel used =
            chosen == choices.end() ? FakeKernel{} : kernels_.at({task, chosen->second.config.at("kernel")});
        const double own_before = trembling(kTaskMs), own_after = trembling(kTaskMs * used.own_ratio);
        before += own_before;
        after += own_after + used.hidden_cost_ms;
        if (chosen == choices.end()) continue;
        ChangeEffect& effect = result.effects[task];
        effect.own_ms = kTaskMs;
        effect.saved_ms.push_back(own_before - own_after);
        effect.own_after_ms.push_back(own_after);
      }
      result.whole.before_ms.push_back(before);
      result.whole.after_ms.push_back(after);
    }
    result.whole.summarize();
    return result;
  }

  int runs = 0;
  double lucky_ms = 0;  // that a session gains by where it happens to lie

 private:
  double trembling(double ms) { return ms * std::exp(tremble_ * random_.normal()); }

  size_t tasks_;
  double tremble_;
  Random random_;
  std::map<std::pair<size_t, std::string>, FakeKernel> kernels_;
};

TEST(ModelJudge, takes_what_is_faster_in_the_model_and_leaves_the_rest) {
  FakeModel model(4, 0.03, 1);
  model.add(0, "faster", {0.8});
  model.add(1, "slower", {1.2});
  model.add(2, "equal", {1.0});
  ModelJudge judge(model);
  EXPECT_EQ(judge.judge({{0, kernel("faster")}, {1, kernel("slower")}, {2, kernel("equal")}}, 1).problem, "");
  EXPECT_EQ(judge.accepted(), (Choices{{0, kernel("faster")}}));
  EXPECT_EQ(judge.find(1, kernel("slower"))->verdict, tune::Verdict::slower);
  EXPECT_NEAR(judge.expected_ratio(judge.accepted()), 4 / 3.8, 0.02);

  const ModelConclusion conclusion = judge.conclude(1);
  EXPECT_EQ(conclusion.choices, (Choices{{0, kernel("faster")}}));
  EXPECT_NEAR(conclusion.comparison->ratio, 4 / 3.8, 0.02);
}

TEST(ModelJudge, replaces_a_winner_by_a_better_one_only) {
  FakeModel model(2, 0.02, 2);
  model.add(0, "good", {0.8});
  model.add(0, "better", {0.6});
  model.add(0, "worse", {0.9});
  ModelJudge judge(model);
  for (const char* name : {"good", "better", "worse"}) judge.judge({{0, kernel(name)}}, 1);
  EXPECT_EQ(judge.accepted(), (Choices{{0, kernel("better")}}));
}

/// How often the better of two is chosen for all of four tasks.
int right_of_50(int further_rounds) {
  int right = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    FakeModel model(6, 0.06, seed);
    Choices better, good;
    for (size_t task = 0; task < 4; ++task) {
      model.add(task, "better", {0.80});
      model.add(task, "good", {0.83});
      better[task] = kernel("better");
      good[task] = kernel("good");
    }
    ModelJudge judge(model);
    judge.judge(good, 1);
    judge.judge(better, 1);
    for (int i = 0; i < further_rounds && judge.tell_rivals_apart(1); ++i) continue;
    right += judge.accepted() == better;
  }
  return right;
}

TEST(ModelJudge, tells_rivals_apart_with_further_rounds) {
  const int before = right_of_50(0), after = right_of_50(6);
  EXPECT_GE(after, before + 5) << "of 50";
  EXPECT_GE(after, 40);
}

TEST(ModelJudge, has_nothing_to_tell_apart_where_one_is_surely_better) {
  FakeModel model(2, 0.01, 9);
  model.add(0, "better", {0.5});
  model.add(0, "good", {0.9});
  ModelJudge judge(model);
  judge.judge({{0, kernel("good")}}, 1);
  judge.judge({{0, kernel("better")}}, 1);
  EXPECT_TRUE(judge.rivals().empty());
  EXPECT_FALSE(judge.tell_rivals_apart(1));
}

TEST(ModelJudge, finds_the_kernel_that_spoils_the_whole_without_losing_the_others) {
  FakeModel model(8, 0.01, 3);
  Choices all;
  for (size_t task = 0; task < 7; ++task) {
    model.add(task, "good", {0.85});
    all[task] = kernel("good");
  }
  model.add(7, "spoils", {0.95, 2.0});
  all[7] = kernel("spoils");
  ModelJudge judge(model);
  judge.judge(all, 1);
  EXPECT_EQ(judge.accepted().size(), 8u) << "its steps say nothing of what it costs";
  const ModelConclusion conclusion = judge.conclude(1);
  EXPECT_FALSE(conclusion.choices.contains(7));
  EXPECT_GE(conclusion.choices.size(), 3u);
  EXPECT_TRUE(conclusion.comparison->faster());
}

TEST(ModelJudge, keeps_the_default_where_only_the_placement_was_lucky) {
  FakeModel model(4, 0.005, 4);
  model.add(0, "lucky", {0.97, 0.1});
  model.lucky_ms = 0.3;
  ModelJudge judge(model);
  judge.judge({{0, kernel("lucky")}}, 1);
  ASSERT_EQ(judge.accepted().size(), 1u);
  EXPECT_TRUE(judge.conclude(1).choices.empty());
}

/// How often a gain of 2 % shows where runs tremble by as much, when time is left for so many runs.
int shown_of_50(int spare_runs) {
  int shown = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    FakeModel model(2, 0.05, seed);
    model.add(0, "faster", {0.96});
    ModelJudgeOptions options;
    options.has_time = [&] { return model.runs < spare_runs; };
    ModelJudge judge(model, options);
    ModelVerdict verdict;
    verdict.verdict = tune::Verdict::faster;
    verdict.effect = {kTaskMs, {0.04, 0.04, 0.04}, {0.96, 0.96, 0.96}};
    judge.recall(0, kernel("faster"), verdict);
    shown += static_cast<int>(judge.conclude(1).choices.size());
  }
  return shown;
}

TEST(ModelJudge, uses_time_that_is_left_to_show_a_small_gain) {
  const int hurried = shown_of_50(1), patient = shown_of_50(5);
  EXPECT_GT(patient, hurried + 10) << "of 50";
}

TEST(ModelJudge, says_what_does_not_fit_and_learns_nothing_from_it) {
  FakeModel model(2, 0.01, 5);
  FakeKernel unfit{0.5};
  unfit.is_unfit = true;
  model.add(0, "unfit", unfit);
  ModelJudge judge(model);
  EXPECT_NE(judge.judge({{0, kernel("unfit")}}, 1).problem, "");
  EXPECT_EQ(judge.find(0, kernel("unfit")), nullptr);
  EXPECT_TRUE(judge.conclude(1).choices.empty());
}

TEST(ModelJudge, runs_nothing_for_what_an_earlier_job_judged) {
  FakeModel model(3, 0.01, 6);
  model.add(0, "known", {0.7});
  ModelJudge judge(model);
  ModelVerdict verdict;
  verdict.verdict = tune::Verdict::faster;
  verdict.runs = 2;
  verdict.effect = {kTaskMs, {0.28, 0.3, 0.32}, {0.7, 0.7, 0.7}};
  judge.recall(0, kernel("known"), verdict);
  EXPECT_EQ(judge.accepted(), (Choices{{0, kernel("known")}}));
  EXPECT_EQ(model.runs, 0);
  EXPECT_EQ(judge.conclude(1).choices, (Choices{{0, kernel("known")}})) << "the whole is compared again";
}

/// Judges three kernels for each of four tasks as a job does, one of each at a time.
Choices tune_made_up_model(uint64_t seed) {
  FakeModel model(6, 0.04, seed);
  for (size_t task = 0; task < 4; ++task) {
    const double shift = 0.05 * static_cast<double>(task);
    model.add(task, "a", {0.75 + shift});
    model.add(task, "b", {0.90});
    model.add(task, "c", {1.10});
  }
  ModelJudge judge(model);
  for (const char* name : {"a", "b", "c"}) {
    Choices proposals;
    for (size_t task = 0; task < 4; ++task) proposals[task] = kernel(name);
    judge.judge(proposals, 1);
  }
  return judge.conclude(1).choices;
}

TEST(ModelJudge, repeated_has_the_same_winner_or_one_that_ties_with_it) {
  const Choices usual = {{0, kernel("a")}, {1, kernel("a")}, {2, kernel("a")}};
  int same = 0;
  constexpr int kRepeats = 50;
  for (uint64_t seed = 1; seed <= kRepeats; ++seed) {
    Choices choices = tune_made_up_model(seed);
    ASSERT_TRUE(choices.contains(3)) << seed;
    choices.erase(3);  // there a and b are equal: either may win
    same += choices == usual;
  }
  EXPECT_GE(same, kRepeats * 9 / 10);
}

TEST(ModelJudge, hardly_ever_takes_a_kernel_for_faster_than_itself) {
  int taken = 0;
  constexpr int kRepeats = 100, kTasks = 5;
  for (uint64_t seed = 1; seed <= kRepeats; ++seed) {
    FakeModel model(kTasks, 0.05, seed);
    Choices proposals;
    for (size_t task = 0; task < kTasks; ++task) {
      model.add(task, "copy", {1.0});
      proposals[task] = kernel("copy");
    }
    ModelJudge judge(model);
    judge.judge(proposals, 1);
    taken += static_cast<int>(judge.conclude(1).choices.size());
  }
  EXPECT_LE(taken, kRepeats * kTasks / 20);
}

}  // namespace
}  // namespace attune
