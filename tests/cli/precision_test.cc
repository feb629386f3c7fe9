// --precision and --accuracy-budget, from the command line to the plan that states what was accepted.
#include "cli/run_binary.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace attune {
namespace {

using Json = nlohmann::json;

Json json_of(const std::string& arguments) {
  const Finished run = run_attune(arguments + " --format json");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return Json::parse(run.out);
}

void expect_refused(const std::string& arguments, const std::string& words) {
  const Finished run = run_attune(arguments);
  EXPECT_EQ(run.exit_code, 2) << arguments;
  EXPECT_NE(run.err.find(words), std::string::npos) << run.err;
  EXPECT_EQ(run.out, "");
}

TEST(Precision, is_f32_unless_asked_and_dtype_is_another_spelling) {
  EXPECT_EQ(json_of("run zoo:lenet").at("outputs"), json_of("run zoo:lenet --precision f32").at("outputs"));
  const Json lowered = json_of("run zoo:lenet --precision bf16").at("outputs");
  EXPECT_EQ(lowered, json_of("run zoo:lenet --dtype bf16").at("outputs"));
  EXPECT_EQ(lowered, json_of("run zoo:lenet --dtype bf16 --precision bf16").at("outputs"));
  EXPECT_NE(lowered, json_of("run zoo:lenet").at("outputs"));
}

TEST(Precision, chosen_under_a_budget_is_stated_by_the_plan) {
  const TempFolder folder;
  const std::string plan = folder.file("lenet.plan").string();
  const Json written = json_of("plan zoo:lenet --precision auto --accuracy-budget 0.5 --budget 2s -o " + plan);
  const Json& statement = written.at("precision");
  EXPECT_EQ(statement.at("accuracy_budget"), 0.5);
  EXPECT_LE(statement.at("error").get<double>(), 0.5);
  EXPECT_EQ(statement.at("inputs"), "random");
  EXPECT_EQ(statement.at("seeds").size(), 3u);
  EXPECT_GT(statement.at("products").get<int>(), 3);
  EXPECT_EQ(statement.at("precision") == "f32", statement.at("bf16_products") == 0);
  const Json shown = json_of("why " + plan);
  EXPECT_EQ(shown.at("precision"), statement);
  EXPECT_FALSE(shown.at("steps").empty());
  const Finished table = run_attune("why " + plan);
  EXPECT_NE(table.out.find("accuracy budget"), std::string::npos) << table.out;
  EXPECT_EQ(json_of("bench " + plan + " --seconds 0.1").at("precision"), statement);
  EXPECT_TRUE(json_of("why zoo:lenet").is_array()) << "nothing was chosen";
}

TEST(Precision, is_chosen_before_a_run) {
  const Finished run = run_attune("run zoo:lenet --precision auto --budget 1s");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("precision: "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("0.01"), std::string::npos) << "the default budget: " << run.err;
}

TEST(Precision, is_chosen_before_tuning) {
  const TempFolder folder;
  const Json summary = json_of("tune zoo:lenet --precision auto --accuracy-budget 0.5 --budget 6s --trials 3 --bank " +
                               folder.file("bank.sqlite").string() + " --output " + folder.file("out").string());
  const Json& statement = summary.at("precision");
  EXPECT_EQ(statement.at("accuracy_budget"), 0.5);
  EXPECT_LE(statement.at("error").get<double>(), 0.5);
  EXPECT_EQ(json_of("why " + folder.file("out/tuned.plan").string()).at("precision"), statement);
}

TEST(Precision, flags_that_contradict_each_other_are_refused) {
  expect_refused("run zoo:lenet --precision f32 --dtype bf16", "contradict");
  expect_refused("run zoo:lenet --precision auto --dtype bf16", "contradict");
  expect_refused("run zoo:lenet --precision f16", "f16");
  expect_refused("run zoo:lenet --accuracy-budget 0.1", "--precision auto");
  expect_refused("run zoo:lenet --precision bf16 --accuracy-budget 0.1", "--precision auto");
  expect_refused("bench zoo:lenet --budget 10s", "--precision auto");
  for (const char* budget : {"0", "-1", "nan", "inf"})
    expect_refused(std::string("run zoo:lenet --precision auto --accuracy-budget ") + budget, "above 0");
  expect_refused("run zoo:lenet --precision auto --budget soon", "60s");
  expect_refused("run zoo:lenet --precision auto --no-rewrite", "--no-rewrite");
  expect_refused("dump zoo:lenet --precision auto --output .", "attune plan");
  expect_refused("tune zoo:lenet --precision auto --dry-run", "--dry-run");
}

TEST(Precision, of_a_plan_is_what_it_was_made_with) {
  const TempFolder folder;
  const std::string plan = folder.file("lenet.plan").string();
  ASSERT_EQ(run_attune("plan zoo:lenet -o " + plan).exit_code, 0);
  expect_refused("run " + plan + " --precision auto", "keeps the precision");
  expect_refused("run " + plan + " --precision bf16", "keeps the precision");
}

}  // namespace
}  // namespace attune
