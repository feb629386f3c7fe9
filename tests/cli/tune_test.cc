// attune tune, from the command line to the folder it leaves.
#include "cli/run_binary.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace attune {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Tune : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("attune_tune_" + std::string(info->name()) + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Json read_json(const std::string& name) const { return Json::parse(std::ifstream(folder_ / name)); }
  Finished tune(const std::string& arguments) const {
    return run_attune("tune zoo:lenet --bank " + path("bank.sqlite") + " " + arguments);
  }

  fs::path folder_;
};

TEST_F(Tune, leaves_a_folder_and_measures_nothing_twice) {
  const Finished first = tune("--budget 20s --trials 6 --output " + path("out") + " --events " + path("events.jsonl"));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const Json summary = read_json("out/summary.json");
  EXPECT_GT(summary.at("total_ops").get<int>(), 3);
  EXPECT_GT(summary.at("trials").get<int>(), 0);
  EXPECT_TRUE(summary.at("performance_improvement").get<std::string>().ends_with("%"));
  EXPECT_TRUE(summary.at("tuning_time").get<std::string>().ends_with("s"));
  for (const char* name : {"records.jsonl", "report.html", "tuned.plan", "profiling/before_tuning/op_summary.csv",
                           "profiling/after_tuning/op_summary.csv"})
    EXPECT_TRUE(fs::exists(folder_ / "out" / name)) << name;
  EXPECT_FALSE(fs::is_empty(folder_ / "out/op_tuning"));
  EXPECT_EQ(run_attune("run " + path("out/tuned.plan")).exit_code, 0);

  std::ifstream events(folder_ / "events.jsonl");
  std::string line, last;
  int trials = 0;
  while (std::getline(events, line)) {
    last = Json::parse(line).at("event");
    trials += last == "trial";
  }
  EXPECT_EQ(last, "end");
  EXPECT_LE(trials, 6);
  EXPECT_GT(trials, 0);

  // As many as before, all of which are known; those left are tried now.
  const Finished second = tune("--budget 20s --trials 1 --format json");
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_GE(Json::parse(second.out).at("reused_trials").get<int>(), trials);
}

TEST_F(Tune, starts_from_an_earlier_result) {
  ASSERT_EQ(tune("--budget 20s --trials 4 --output " + path("out")).exit_code, 0);
  fs::remove(folder_ / "bank.sqlite");
  const Finished next = tune("--budget 20s --trials 1 --format json --base_result " + path("out"));
  ASSERT_EQ(next.exit_code, 0) << next.err;
  EXPECT_GT(Json::parse(next.out).at("reused_trials").get<int>(), 0);
}

TEST_F(Tune, understands_the_spelling_of_aoe) {
  const Finished run = run_attune(
      "tune --framework=5 --model=zoo:lenet:batch=0 --job_type=1 --output=" + path("aoe") +
      " --soc_version=host --input_shape=\"input:2,1,28,28\" --tuning_time_limit=4 --bank=" + path("b.sqlite"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(fs::exists(folder_ / "aoe/summary.json"));
}

TEST_F(Tune, shows_tasks_and_spaces_without_measuring) {
  const Finished run = tune("--dry-run --format json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_GT(Json::parse(run.out).at("tasks").size(), 3u);
  EXPECT_FALSE(fs::exists(folder_ / "bank.sqlite"));
}

TEST_F(Tune, refuses_what_it_cannot_do_before_it_begins) {
  for (const auto& [arguments, code, message] : {
           std::tuple{"--budget soon", 2, "60s, 5m or 1h"},
           {"--job_type 3", 3, "gdat"},
           {"--job_type 7", 2, "there is no job type '7'"},
           {"--job opat --job_type 2", 2, "contradict"},
           {"--job sgat --search nonsense", 2, "nonsense"},
           {"--job sgat --target_metric power", 2, "latency, throughput"},
           {"--config /nonexistent.json", 2, "/nonexistent.json"},
           {"--soc_version Ascend910B3", 2, "is not this machine"},
           {"--search nonsense", 2, "nonsense"},
           {"--base_result /nonexistent", 2, "records.jsonl"},
           {"--model other.onnx", 2, "given twice"},
           {"--output /proc/nowhere", 2, "/proc/nowhere"},
       }) {
    const Finished run = tune(arguments);
    EXPECT_EQ(run.exit_code, code) << arguments << run.err;
    EXPECT_NE(run.err.find(message), std::string::npos) << arguments << ": " << run.err;
  }
}

TEST_F(Tune, shows_subgraphs_and_candidates_without_measuring) {
  const Finished run = tune("--job sgat --dry-run --format json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json subgraphs = Json::parse(run.out).at("subgraphs");
  ASSERT_GT(subgraphs.size(), 2u);
  EXPECT_TRUE(subgraphs[0].at("key").get<std::string>().starts_with("subgraph@fuse_epilogues "));
  EXPECT_EQ(subgraphs[0].at("candidates")[0].at("fused"), "nothing");
  EXPECT_FALSE(fs::exists(folder_ / "bank.sqlite"));

  const Finished all = tune("--job all --dry-run --format json");
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_TRUE(Json::parse(all.out).contains("tasks"));
  EXPECT_TRUE(Json::parse(all.out).contains("subgraphs"));
}

TEST_F(Tune, decides_on_subgraphs_and_measures_none_twice) {
  const Finished first =
      tune("--job_type=2 --tuning_time_limit=20 --output " + path("out") + " --events " + path("events.jsonl"));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const Json summary = read_json("out/summary.json");
  EXPECT_GT(summary.at("total_subgraphs").get<int>(), 2);
  const int trials = summary.at("trials");
  EXPECT_GT(trials, 2);
  const Json subgraphs = read_json("out/subgraph_tuning/fuse_epilogues.json");
  EXPECT_FALSE(subgraphs[0].at("tried").empty());
  EXPECT_EQ(run_attune("run " + path("out/tuned.plan")).exit_code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "out/report.html"));

  const Finished second = tune("--job sgat --budget 20s --format json");
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(Json::parse(second.out).at("trials"), 0);
  EXPECT_GE(Json::parse(second.out).at("reused_trials").get<int>(), 3);

  const Finished list = run_attune("bank list --op subgraph --format json --bank " + path("bank.sqlite"));
  ASSERT_EQ(list.exit_code, 0) << list.err;
  const Json records = Json::parse(list.out);
  ASSERT_GE(records.size(), 3u);
  const Finished shown = run_attune("bank show " + records[0].at("rid").get<std::string>() + " --format json --bank " +
                                    path("bank.sqlite"));
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_NE(Json::parse(shown.out).at("meaning").get<std::string>().find("apart"), std::string::npos);
}

TEST_F(Tune, takes_its_settings_from_a_file_and_flags_before_them) {
  std::ofstream(folder_ / "sgat_config.json") << R"(// sgat_config.json
{"job_type": "subgraph", "tuning_time_limit": 6, "max_tuning_count": 2, "search_algorithm": "bayesian",
 "target_metric": "throughput"})";
  const Finished run = tune("--format json --config " + path("sgat_config.json"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json summary = Json::parse(run.out);
  EXPECT_TRUE(summary.contains("total_subgraphs"));
  EXPECT_GT(summary.at("trials").get<int>(), 0);

  const Finished flags = run_attune("tune zoo:lenet --format json --search auto --max_tuning_count 1 --bank " +
                                    path("other.sqlite") + " --config " + path("sgat_config.json"));
  ASSERT_EQ(flags.exit_code, 0) << flags.err;
  EXPECT_EQ(Json::parse(flags.out).at("trials"), 1);
}

TEST_F(Tune, says_what_is_wrong_with_a_file_of_settings) {
  for (const auto& [text, message] : {
           std::pair{"{", "is no JSON"},
           {"[]", "no JSON object"},
           {R"({"max_tunig_count": 3})", "did you mean 'max_tuning_count'"},
           {R"({"max_tuning_count": 0})", "1 at least"},
           {R"({"tuning_time_limit": "long"})", "number of seconds"},
           {R"({"job_type": "gradient"})", "gdat"},
           {R"({"search_algorithm": 3})", "has to be a text"},
           {R"({"target_metric": "power"})", "latency, throughput"},
       }) {
    std::ofstream(folder_ / "bad.json") << text;
    const Finished run = tune("--config " + path("bad.json"));
    EXPECT_NE(run.exit_code, 0) << text;
    EXPECT_NE(run.err.find(message), std::string::npos) << text << ": " << run.err;
    EXPECT_FALSE(fs::exists(folder_ / "bank.sqlite")) << text;
  }
}

TEST_F(Tune, does_everything_in_one_budget) {
  const Finished run = tune("--job all --budget 20s --trials 6 --format json --output " + path("out"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json summary = Json::parse(run.out);
  EXPECT_GT(summary.at("total_ops").get<int>(), 3);
  EXPECT_GT(summary.at("total_subgraphs").get<int>(), 2);
  EXPECT_EQ(run_attune("run " + path("out/tuned.plan")).exit_code, 0);
}

}  // namespace
}  // namespace attune
