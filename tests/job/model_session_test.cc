// A real model, small enough to run in a test: what the bank knows of it, and sessions with other kernels.
#include "bank/location.h"
#include "job/nearest.h"
#include "job/recall.h"
#include "job/session_runner.h"
#include "providers/providers.h"
#include "runtime/bank_advisor.h"
#include "runtime/load_session.h"
#include "runtime/random_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace attune {
namespace {

class NoRunner final : public ModelRunner {
 public:
  ModelRun run(const Choices&, const ModelRunOptions&) override {
    ADD_FAILURE() << "nothing is to be run";
    return {};
  }
};

class ModelSession : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/model_session_" + testing::UnitTest::GetInstance()->current_test_info()->name() +
            std::to_string(getpid()) + ".sqlite";
    std::filesystem::remove(path_);
    bank_ = open_one_bank(path_, BankAccess::read_write);
    options_.bank = bank_.get();
  }
  void TearDown() override {
    bank_.reset();
    std::filesystem::remove(path_);
  }

  OpatJob make_job() {
    return {options_, JobClock(60, [] { return false; }), session_, inputs_};
  }

  /// A task with another kernel than its default, and that kernel.
  static std::pair<size_t, tune::Trial> other_kernel(OpatJob& job) {
    for (size_t i = 0; i < job.searches.size(); ++i)
      if (const auto trials = job.searches[i].next(1); !trials.empty()) return {i, trials.front()};
    throw InternalError("the model has nothing to tune");
  }

  /// Tasks are in the order of their times, which differ from job to job.
  static size_t position(const OpatJob& job, const std::string& key) {
    const auto found = std::find_if(job.searches.begin(), job.searches.end(),
                                    [&](const TaskSearch& search) { return search.task().key == key; });
    return static_cast<size_t>(found - job.searches.begin());
  }

  void add_record(const OpatJob& job, size_t task, const tune::Trial& trial, double ratio, const std::string& message) {
    Record record;
    record.key = bank_key(job.searches[task].task().workload, job.threads);
    record.provider = trial.provider;
    record.environment = require_provider(trial.provider).environment();
    record.config = trial.config;
    record.samples_ns = {1000, 1001, 1002};
    record.ratio = Ratio{ratio, ratio - 0.05, ratio + 0.05};
    record.max_error = 0;
    record.message = message;
    bank_->add(record);
  }

  Session session_ = load_session("zoo:lenet", {});
  std::vector<Tensor> inputs_ = random_inputs(session_.graph(), {}, 1);
  std::string path_;
  std::unique_ptr<Bank> bank_;
  OpatOptions options_;
};

TEST_F(ModelSession, takes_over_what_the_bank_has_judged_in_it) {
  OpatJob first = make_job();
  const auto [known, trial] = other_kernel(first);
  add_record(first, known, trial, 0.7, "");
  add_record(first, known, trial, 0.8, model_message(first.model));

  OpatJob job = make_job();
  const size_t task = position(job, first.searches[known].task().key);
  NoRunner runner;
  ModelJudge judge(runner);
  recall(job, judge);
  EXPECT_EQ(job.result.reused_trials, 1);
  ASSERT_EQ(judge.accepted(), (Choices{{task, trial}}));
  EXPECT_NEAR(judge.find(task, trial)->effect.ratio(), 0.8, 1e-9);
  EXPECT_FALSE(judge.find(task, trial)->is_open());
  EXPECT_NEAR(job.searches[task].best(1, 0).at(0).log_ratio, std::log(0.7), 1e-9)
      << "the search goes by what it was alone";
  const auto next = job.searches[task].next(1000);
  EXPECT_EQ(std::count(next.begin(), next.end(), trial), 0) << "it is not measured twice";
}

TEST_F(ModelSession, judges_anew_what_another_model_judged) {
  OpatJob first = make_job();
  const auto [known, trial] = other_kernel(first);
  add_record(first, known, trial, 0.7, "");
  add_record(first, known, trial, 0.8, model_message("another"));
  OpatJob job = make_job();
  const size_t task = position(job, first.searches[known].task().key);
  NoRunner runner;
  ModelJudge judge(runner);
  recall(job, judge);
  EXPECT_EQ(job.result.reused_trials, 1);
  EXPECT_TRUE(judge.accepted().empty());
  EXPECT_EQ(judge.find(task, trial), nullptr);
}

TEST_F(ModelSession, begins_with_what_somebody_suggests) {
  OpatJob job = make_job();
  for (TaskSearch& search : job.searches) {
    const auto asked = search.next(4);
    if (asked.size() < 4) continue;
    OpatJob other = make_job();
    TaskSearch& fresh = other.searches[position(other, search.task().key)];
    EXPECT_TRUE(fresh.suggest(asked[3]));
    EXPECT_FALSE(fresh.suggest(asked[3])) << "once is enough";
    EXPECT_FALSE(fresh.suggest({"onednn", {{"no such", "parameter"}}}));
    const auto next = fresh.next(1000);
    EXPECT_EQ(next.at(0), asked[3]);
    EXPECT_EQ(std::count(next.begin(), next.end(), asked[3]), 1);
    return;
  }
  FAIL() << "no task has four kernels";
}

TEST_F(ModelSession, runs_with_a_choice_beside_its_default) {
  OpatJob job = make_job();
  const auto [task, trial] = other_kernel(job);
  std::vector<TuningTask> tasks;
  for (const TaskSearch& search : job.searches) tasks.push_back(search.task());
  SessionRunnerOptions options;
  options.reason = [](size_t, const tune::Trial&) { return "chosen by a test"; };
  SessionRunner runner(session_, inputs_, tasks, options);
  const ModelRun run = runner.run({{task, trial}}, {0.05, Placement::any});
  ASSERT_EQ(run.problem, "");
  EXPECT_TRUE(run.whole.is_enough());
  ASSERT_EQ(run.effects.size(), 1u);
  EXPECT_EQ(run.effects.at(task).rounds(), run.whole.before_ms.size());
  EXPECT_GT(run.effects.at(task).own_ms, 0);
  EXPECT_GT(runner.last_run_s(), 0);

  const Session tuned = runner.take_session();
  const auto plan = tuned.plan(inputs_);
  const bool is_used = std::any_of(plan->steps.begin(), plan->steps.end(), [&](const Step& step) {
    return step.provider == trial.provider && step.config == trial.config && step.reason == "chosen by a test";
  });
  EXPECT_TRUE(is_used) << tune::to_text(trial);
}

}  // namespace
}  // namespace attune
