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
           {"--job_type 2", 3, "sgat"},
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

}  // namespace
}  // namespace attune
