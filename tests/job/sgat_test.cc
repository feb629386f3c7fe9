// Subgraph tuning over a model that is made up, where it is known what each way to fuse saves, and over a real one.
#include "job/sgat.h"

#include "bank/location.h"
#include "graph/text.h"
#include "job/partition_runner.h"
#include "job/partition_search.h"
#include "job/twins.h"
#include "runtime/bank_advisor.h"
#include "runtime/random_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace attune {
namespace {

std::vector<Tensor> make_inputs(const Graph& graph) { return random_inputs(graph, {}, 1); }

/// Plans and runs the model as asked, but what it tells of the times is out of a list: what a way to fuse saves, or
/// that the model computes something else with it.
class FakeRunner final : public PartitionRunner {
 public:
  using PartitionRunner::PartitionRunner;

  ModelRun run(const Choices& choices, const ModelRunOptions& options) override {
    runs.push_back(choices);
    ModelRun result = PartitionRunner::run(choices, {0.001, options.placement});
    EXPECT_EQ(result.problem, "") << "whatever is fused, the outputs are the same";
    const size_t rounds = result.whole.before_ms.size();
    double saved = 0;
    result.effects.clear();
    for (const auto& [subgraph, trial] : choices) {
      if (trial.config.at("fused") == unfit) result.problem = "output 'y' differs";
      const auto found = saves.find(trial.config.at("fused"));
      const double saves_ms = found == saves.end() ? -0.3 : found->second;
      saved += saves_ms;
      result.effects[subgraph] = {1, std::vector<double>(rounds, saves_ms), std::vector<double>(rounds, 1 - saves_ms)};
    }
    result.noise.reset();
    result.whole.before_ms.assign(rounds, 2);
    result.whole.after_ms.assign(rounds, 2 - saved);
    result.whole.summarize();
    return result;
  }

  std::map<std::string, double> saves;  // ms of 1, by what is fused; others cost 0.3
  std::string unfit = "none";
  std::vector<Choices> runs;
};

class Sgat : public testing::Test {
 protected:
  Sgat()
      : graph_(parse_graph(test::kTwins)),
        session_(Graph(graph_)),
        inputs_(make_inputs(graph_)),
        path_(testing::TempDir() + "/sgat_" + testing::UnitTest::GetInstance()->current_test_info()->name() +
              std::to_string(getpid()) + ".sqlite") {
    std::filesystem::remove(path_);
    bank_ = open_one_bank(path_, BankAccess::read_write);
    options_.bank = bank_.get();
    options_.budget_s = 600;  // of a made-up runner, nothing is waited for
  }
  ~Sgat() override {
    bank_.reset();
    std::filesystem::remove(path_);
  }

  SgatJob make_job() { return {options_, JobClock(options_.budget_s, options_.stop), session_, inputs_}; }
  std::unique_ptr<FakeRunner> make_runner(const SgatJob& job) {
    return std::make_unique<FakeRunner>(graph_, session_, inputs_, job.subgraphs, runner_options(options_));
  }
  static size_t position(const SgatJob& job, const std::string& whole) {
    return static_cast<size_t>(std::ranges::find(job.subgraphs, whole, &Subgraph::whole) - job.subgraphs.begin());
  }
  static void try_all(PartitionStage& stage) {
    for (int round = 0; round < 10 && !stage.proposals().empty(); ++round) stage.try_proposals(1);
  }

  Graph graph_;
  Session session_;
  std::vector<Tensor> inputs_;
  std::string path_;
  std::unique_ptr<Bank> bank_;
  JobOptions options_;
};

TEST_F(Sgat, takes_the_cut_that_saves_most_and_leaves_the_rest_fused) {
  SgatJob job = make_job();
  auto runner = make_runner(job);
  runner->saves = {{"MatMul + Add", 0.4}};
  const FakeRunner& fake = *runner;
  PartitionStage stage(job, std::move(runner));
  try_all(stage);
  const size_t first = position(job, "MatMul + Add + Relu");
  ASSERT_EQ(stage.judge().accepted().size(), 1u);
  EXPECT_EQ(stage.judge().accepted().at(first).config.at("apart"), "Relu");
  EXPECT_EQ(job.result.trials, 3) << "two ways of one, one of the other";
  EXPECT_EQ(fake.runs.front().size(), 2u) << "one of each subgraph at a time";
}

TEST_F(Sgat, tries_no_more_than_it_is_allowed_to) {
  options_.most_trials = 1;
  SgatJob job = make_job();
  PartitionStage stage(job, make_runner(job));
  try_all(stage);
  EXPECT_EQ(job.result.trials, 1);
}

TEST_F(Sgat, keeps_what_changes_the_results_out_and_remembers_it) {
  {
    SgatJob job = make_job();
    auto runner = make_runner(job);
    runner->unfit = "MatMul + Add";
    runner->saves = {{"MatMul + Add", 0.4}};
    PartitionStage stage(job, std::move(runner));
    try_all(stage);
    EXPECT_TRUE(stage.judge().accepted().empty());
  }
  SgatJob job = make_job();
  PartitionStage stage(job, make_runner(job));
  stage.recall();
  EXPECT_EQ(job.result.reused_trials, 3);
  EXPECT_TRUE(stage.proposals().empty());
}

TEST_F(Sgat, asks_nothing_twice_that_the_bank_knows_of_this_model) {
  {
    SgatJob job = make_job();
    PartitionStage stage(job, make_runner(job));
    try_all(stage);
  }
  SgatJob job = make_job();
  auto runner = make_runner(job);
  const FakeRunner& fake = *runner;
  PartitionStage stage(job, std::move(runner));
  stage.recall();
  try_all(stage);
  EXPECT_TRUE(fake.runs.empty());
  EXPECT_EQ(job.result.reused_trials, 3);
}

TEST_F(Sgat, a_search_over_all_subgraphs_finds_the_same) {
  SgatJob job = make_job();
  auto runner = make_runner(job);
  runner->saves = {{"MatMul + Add", 0.4}};
  PartitionStage stage(job, std::move(runner));
  search_partitions(job, stage, "genetic", 0.001);
  const Choices& accepted = stage.judge().accepted();
  ASSERT_EQ(accepted.size(), 1u);
  EXPECT_EQ(accepted.begin()->second.config.at("apart"), "Relu");
}

TEST_F(Sgat, a_point_of_the_space_is_a_choice_for_each_subgraph) {
  const SgatJob job = make_job();
  const Space space = partition_space(job.subgraphs);
  EXPECT_EQ(space.size(), 6u);
  EXPECT_TRUE(choices_at(space, space.default_index(), job.subgraphs).empty());
  size_t choices = 0;
  for (uint64_t point = 0; point < space.size(); ++point) choices += choices_at(space, point, job.subgraphs).size();
  EXPECT_EQ(choices, 7u) << "2 x 2 + 3 x 1";
}

TEST_F(Sgat, gives_the_model_that_won_and_says_why) {
  SgatJob job = make_job();
  auto runner = make_runner(job);
  runner->saves = {{"MatMul + Add", 0.4}};
  PartitionStage stage(job, std::move(runner));
  try_all(stage);
  std::optional<Session> after = stage.conclude();
  ASSERT_TRUE(after);
  const TuningOutcome outcome = job.finish(Session(Graph(graph_)), std::move(after), inputs_);
  EXPECT_TRUE(outcome.result.applied);
  EXPECT_EQ(outcome.result.conclusion, "the tuned plan is 1.25x as fast (1.25 to 1.25)");
  std::vector<std::string> labels;
  for (const Step& step : outcome.result.after_plan->steps) labels.push_back(step.label);
  EXPECT_EQ(labels, (std::vector<std::string>{"first", "first_relu", "second", "second_relu", "third"}));
  const SubgraphResult& changed = outcome.result.subgraphs[position(job, "MatMul + Add + Relu")];
  ASSERT_TRUE(changed.winner);
  EXPECT_EQ(changed.verdict, "faster");
  EXPECT_NEAR(changed.best()->ratio, 1 / 0.6, 1e-6);
  EXPECT_EQ(changed.tried.size(), 2u);
  EXPECT_EQ(changed.tried[0].verdict, "slower");

  const std::vector<Record> records = bank_->find(job.key_of(position(job, "MatMul + Add + Relu")));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(std::ranges::count_if(records, [](const Record& record) { return record.ratio->high < 1; }), 1);
}

TEST_F(Sgat, ends_with_a_model_that_computes_the_same) {
  options_.budget_s = 10;  // it ends when all is judged
  const TuningOutcome outcome = run_sgat(graph_, make_inputs, options_);
  EXPECT_EQ(outcome.result.subgraphs.size(), 2u);
  EXPECT_EQ(outcome.result.trials, 3);
  for (const SubgraphResult& one : outcome.result.subgraphs) EXPECT_FALSE(one.tried.empty());
  EXPECT_EQ(check_outputs(session_, outcome.session, inputs_).problem, "");
  EXPECT_FALSE(outcome.result.conclusion.empty());

  const TuningOutcome again = run_sgat(graph_, make_inputs, options_);
  EXPECT_EQ(again.result.trials, 0);
  EXPECT_EQ(again.result.reused_trials, 3);
}

TEST_F(Sgat, refuses_a_search_that_is_not_there) {
  EXPECT_EQ(partition_algorithm("bayesian"), "bayesian");
  EXPECT_EQ(partition_algorithm("RL,GA"), "genetic");
  EXPECT_EQ(partition_algorithm("NO_TUNE"), "");
  EXPECT_THROW(partition_algorithm("nonsense"), UserError);
}

}  // namespace
}  // namespace attune
