// attune measure as a user runs it.
#include "cli/run_binary.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace attune {
namespace {

TEST(MeasureVerb, compares_what_there_is_for_a_workload_with_the_default) {
  const Finished run = run_attune(
      "measure 'MatMul@13(f32[32x64], f32[64x48]*) -> (f32[32x48]) {}' --seconds 0.5 --threads 1 --format json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  ASSERT_EQ(json["workloads"].size(), 1U);
  const auto& results = json["workloads"][0]["results"];
  EXPECT_EQ(json["workloads"][0]["workload"], "MatMul@13(f32[32x64], f32[64x48]*) -> (f32[32x48]) {}");
  EXPECT_EQ(results[0]["default"], true);
  EXPECT_EQ(results[0]["outcome"], "ok");
  EXPECT_GT(results[0]["time_ns"], 0);
  EXPECT_GT(json["noise_floor"], 0);
}

TEST(MeasureVerb, takes_the_workloads_of_a_model) {
  const Finished run = run_attune("measure zoo:mlp --op Gemm --seconds 0.2 --threads 1 --no-rewrite --format csv");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out.rfind("workload,provider,config,verdict,", 0), 0U) << run.out;
  EXPECT_NE(run.out.find("Gemm@"), std::string::npos);
}

TEST(MeasureVerb, says_what_is_wrong) {
  struct Wrong {
    const char *arguments, *message;
    int exit_code = 2;
  };
  for (const auto& [arguments, message, exit_code] : {
           Wrong{"measure 'Relu@14(f33[64]) -> (f32[64]) {}'", "'f33' is not a dtype"},
           {"measure 'Relu@14(f32[64]) -> (?) {}'", "write the outputs out"},
           {"measure 'MatMul@13(f32[64x64]) -> (f32[64x64]) {}'", "has 1 inputs"},
           {"kernel 'attune::Reorder@1() -> (f32[64]) {}'", "'Reorder' has 0 inputs"},
           {"measure 'NoSuchOperator@14(f32[64]) -> (f32[64]) {}'", "is not supported", 3},
           {"measure 'Relu@14(f32[64]) -> (f32[64]) {}' --op Relu", "--op and --node choose among the steps"},
           {"measure zoo:mlp --op Conv", "no step of 'zoo:mlp'"},
       }) {
    const Finished run = run_attune(arguments);
    EXPECT_EQ(run.exit_code, exit_code) << arguments << run.err;
    EXPECT_NE(run.err.find(message), std::string::npos) << arguments << "\n" << run.err;
  }
}

}  // namespace
}  // namespace attune
