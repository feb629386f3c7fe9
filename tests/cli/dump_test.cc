// Operators written down in one place and tuned in another: attune dump, ENABLE_TUNE_DUMP, attune tune --from-dump.
#include "cli/run_binary.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <set>

namespace attune {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Dump : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("attune_dump_" + std::string(info->name()) + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// The files of a folder; none where it is missing.
  std::vector<fs::path> files(const std::string& name) const {
    std::vector<fs::path> found;
    if (fs::exists(folder_ / name))
      for (const auto& entry : fs::directory_iterator(folder_ / name)) found.push_back(entry.path());
    return found;
  }
  /// Runs attune with variables in front of it.
  static Finished run_with(const std::string& variables, const std::string& arguments) {
    const std::string binary = "\"" ATTUNE_BINARY "\" ";
    return run_attune("--version > /dev/null; " + variables + " " + binary + arguments);
  }

  fs::path folder_;
};

TEST_F(Dump, describes_the_operators_of_a_model_without_running_it) {
  const Finished run = run_attune("dump zoo:lenet --threads 1 --format json --output " + path("dumps"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(files("dumps").size(), 1u);
  const Json dump = Json::parse(std::ifstream(files("dumps")[0]));
  EXPECT_EQ(dump.at("attune_dump"), 1);
  EXPECT_EQ(dump.at("model"), "zoo:lenet");
  EXPECT_EQ(dump.at("threads"), 1);
  EXPECT_TRUE(dump.at("left_out").empty());
  // The same operators as `attune why` shows, each once.
  std::set<std::string> expected, dumped;
  const Json steps = Json::parse(run_attune("why zoo:lenet --threads 1 --format json").out);
  for (const Json& step : steps) expected.insert(step.at("workload").get<std::string>());
  size_t nodes = 0;
  const Finished shown = run_attune("dump zoo:lenet --threads 1 --format csv --output " + path("dumps"));
  for (const Json& one : dump.at("operators")) {
    nodes += one.at("nodes").size();
    dumped.insert(one.at("workload").get<std::string>());
  }
  EXPECT_EQ(dumped.size(), dump.at("operators").size());
  EXPECT_EQ(dumped.size(), expected.size());
  EXPECT_EQ(nodes, steps.size());
  for (const std::string& key : expected) EXPECT_NE(shown.out.find(key.substr(0, key.find('('))), std::string::npos);
  EXPECT_EQ(files("dumps").size(), 1u) << "the same operators give the same file";
}

TEST_F(Dump, is_written_while_a_model_runs_when_the_environment_asks) {
  const std::string variables = "ENABLE_TUNE_DUMP=True TUNE_DUMP_PATH=" + path("dumps");
  const Finished run = run_with(variables, "run zoo:lenet");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("dumped"), std::string::npos) << run.err;
  EXPECT_EQ(files("dumps").size(), 1u);
  ASSERT_EQ(run_with(variables, "bench zoo:mlp --seconds 0.1").exit_code, 0);
  EXPECT_EQ(files("dumps").size(), 2u);
  for (const char* off : {"ENABLE_TUNE_DUMP=0", "ENABLE_TUNE_DUMP=False", "ENABLE_TUNE_DUMP="}) {
    EXPECT_EQ(run_with(std::string(off) + " TUNE_DUMP_PATH=" + path("none"), "run zoo:lenet").exit_code, 0);
    EXPECT_TRUE(files("none").empty()) << off;
  }
  const Finished wrong = run_with("ENABLE_TUNE_DUMP=maybe", "run zoo:lenet");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("give True or 1"), std::string::npos) << wrong.err;
}

TEST_F(Dump, is_tuned_into_a_bank_that_the_model_then_uses) {
  ASSERT_EQ(run_attune("dump zoo:lenet --threads 1 --output " + path("dumps")).exit_code, 0);
  const std::string tune = "tune --from-dump " + path("dumps") + " --bank " + path("bank.sqlite") +
                           " --budget 20s --trials 6 --format json --events " + path("events.jsonl") + " --output " +
                           path("out");
  const Finished first = run_attune(tune);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const Json summary = Json::parse(first.out);
  EXPECT_GT(summary.at("total_ops").get<int>(), 3);
  EXPECT_GT(summary.at("trials").get<int>(), 0);
  for (const char* name : {"out/summary.json", "out/records.jsonl", "out/report.html"})
    EXPECT_TRUE(fs::exists(folder_ / name)) << name;
  EXPECT_FALSE(fs::exists(folder_ / "out/tuned.plan"));
  // What the dump's operators were filed under is what the model asks for.
  const Json model = Json::parse(
      run_attune("tune zoo:lenet --threads 1 --budget 20s --trials 1 --format json --bank " + path("bank.sqlite")).out);
  EXPECT_GE(model.at("reused_trials").get<int>(), summary.at("trials").get<int>());
  EXPECT_EQ(run_attune("run zoo:lenet --threads 1 --bank " + path("bank.sqlite")).exit_code, 0);

  std::ifstream events(folder_ / "events.jsonl");
  std::set<std::string> kinds;
  for (std::string line; std::getline(events, line);) kinds.insert(Json::parse(line).at("event").get<std::string>());
  EXPECT_TRUE(kinds.contains("begin") && kinds.contains("trial") && kinds.contains("end"));
  // Another time nothing is measured twice.
  const Json second = Json::parse(run_attune(tune).out);
  EXPECT_GE(second.at("reused_trials").get<int>(), summary.at("trials").get<int>());
}

TEST_F(Dump, that_is_damaged_is_refused_in_words_and_changes_nothing) {
  ASSERT_EQ(run_attune("dump zoo:lenet --output " + path("dumps")).exit_code, 0);
  const Json good = Json::parse(std::ifstream(files("dumps")[0]));
  const auto refused = [&](const std::string& text, const std::string& message) {
    fs::create_directories(folder_ / "bad");
    std::ofstream(folder_ / "bad/x.ops.json") << text;
    const Finished run =
        run_attune("tune --from-dump " + path("bad") + " --bank " + path("bank.sqlite") + " --output " + path("out"));
    EXPECT_EQ(run.exit_code, 2) << text << run.err;
    EXPECT_NE(run.err.find("x.ops.json"), std::string::npos) << run.err;
    EXPECT_NE(run.err.find(message), std::string::npos) << run.err;
    EXPECT_FALSE(fs::exists(folder_ / "bank.sqlite"));
    EXPECT_FALSE(fs::exists(folder_ / "out"));
  };
  refused("", "not a dump of operators");
  refused("{}", "not a dump of operators");
  refused("[1, 2", "not a dump of operators");
  const auto with = [&](const char* field, const Json& value) {
    Json changed = good;
    changed[field] = value;
    return changed.dump();
  };
  refused(with("attune_dump", 99), "newer attune");
  refused(with("threads", 0), "0 threads");
  const auto with_workload = [&](const char* text) {
    Json changed = good;
    changed["operators"][1]["workload"] = text;
    return changed.dump();
  };
  refused(with_workload("Conv@17(f32[1x"), "operator 2");
  refused(with_workload("Nonsense@1(f32[1]) -> (f32[1]) {}"), "Nonsense");
  refused(with_workload("MatMul@13(f32[2x3], f32[4x5]) -> (f32[2x5]) {}"), "operator 2");
  refused(with_workload("MatMul@13(f32[2x3], f32[3x5]) -> (f32[2x6]) {}"), "makes f32[2x5]");
  refused(with_workload("Relu@14(f32[4000000000x4000000000x4]) -> (f32[4000000000x4000000000x4]) {}"), "size");
  refused(with_workload("Relu@14(f32[1000000x1000000]) -> (f32[1000000x1000000]) {}"), "operator 2");
  refused(with_workload("Relu@14(f32[-4]) -> (f32[-4]) {}"), "operator 2");
}

TEST_F(Dump, that_is_missing_or_contradicts_other_flags_is_refused) {
  fs::create_directories(folder_ / "empty");
  for (const auto& [arguments, message] : std::initializer_list<std::pair<std::string, std::string>>{
           {"tune --from-dump " + path("nowhere"), "attune dump"},
           {"tune --from-dump " + path("empty"), "no file *.ops.json"},
           {"tune zoo:lenet --from-dump " + path("empty"), "--from-dump"},
           {"tune --from-dump " + path("empty") + " --plan p.plan", "--plan"},
           {"tune", "no model"},
           {"dump zoo:lenet --output /proc/nowhere", "/proc/nowhere"},
       }) {
    const Finished run = run_attune(arguments + (arguments.starts_with("tune") ? " --bank " + path("b.sqlite") : ""));
    EXPECT_EQ(run.exit_code, 2) << arguments << run.err;
    EXPECT_NE(run.err.find(message), std::string::npos) << arguments << ": " << run.err;
  }
  EXPECT_FALSE(fs::exists(folder_ / "b.sqlite"));
}

}  // namespace
}  // namespace attune
