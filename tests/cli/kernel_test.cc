// attune kernel, and plans that carry generated kernels to where there is no compiler.
#include "cli/run_binary.h"
#include "codegen/compile_text.h"

#include <nlohmann/json.hpp>

namespace attune {
namespace {

constexpr const char* kGelu = "'Gelu@20(f32[64x100]) -> (f32[64x100]) {}' ";

TEST(KernelVerb, shows_text_that_states_its_workload) {
  SKIP_WITHOUT_COMPILER();
  const Finished run = run_attune(std::string("kernel ") + kGelu + "--show source --set unroll=4");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out.rfind("// Gelu@20(f32[64x100])", 0), 0u) << run.out;
  EXPECT_NE(run.out.find("unroll=4"), std::string::npos);
  EXPECT_NE(run.out.find("extern \"C\""), std::string::npos);
}

TEST(KernelVerb, shows_instructions_and_parameters) {
  SKIP_WITHOUT_COMPILER();
  const Finished assembly = run_attune(std::string("kernel ") + kGelu + "--show asm");
  EXPECT_NE(assembly.out.find("map_kernel:"), std::string::npos) << assembly.err;
  const Finished config = run_attune(std::string("kernel ") + kGelu + "--show config --format json");
  const auto json = nlohmann::json::parse(config.out);
  EXPECT_GT(json.at("configurations"), 10);
  EXPECT_EQ(json.at("parameters").at(0).at("value"), "vector_map");
}

TEST(KernelVerb, tries_one_configuration) {
  SKIP_WITHOUT_COMPILER();
  const Finished run = run_attune(std::string("kernel ") + kGelu + "--set unroll=1 --format json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json.at("outcome"), "ok");
  EXPECT_EQ(json.at("config").at("unroll"), "1");
  EXPECT_GT(json.at("time_ns"), 0);
}

TEST(KernelVerb, refuses_what_it_cannot_do_with_a_reason) {
  SKIP_WITHOUT_COMPILER();
  const Finished value = run_attune(std::string("kernel ") + kGelu + "--set unroll=77");
  EXPECT_EQ(value.exit_code, 2);
  EXPECT_NE(value.err.find("unroll"), std::string::npos) << value.err;
  const Finished op = run_attune("kernel 'NonZero@13(f32[3]) -> (i64[1x3]) {}' --show source");
  EXPECT_EQ(op.exit_code, 2);
  EXPECT_NE(op.err.find("NonZero"), std::string::npos) << op.err;
}

/// Sets a variable of the environment as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(PlanOfGeneratedKernels, runs_where_there_is_no_compiler) {
  SKIP_WITHOUT_COMPILER();
  const TempFolder folder;
  const std::string plan = folder.file("m.plan").string();
  const std::string providers = " --no-rewrite --provider generated --provider reference ";
  const Finished made = run_attune("plan zoo:resnet18:size=64 --output " + plan + providers);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Finished with = run_attune("run " + plan + " --format json");
  ASSERT_EQ(with.exit_code, 0) << with.err;
  const Variable module("ATTUNE_CODEGEN_MODULE", "/nonexistent");
  const Variable cache("ATTUNE_COMPILE_CACHE", "disable");
  const Finished why = run_attune("why " + plan + " --format csv");
  EXPECT_NE(why.out.find("generated"), std::string::npos) << why.out << why.err;
  const Finished without = run_attune("run " + plan + " --format json");
  EXPECT_EQ(without.exit_code, 0) << without.err;
  EXPECT_EQ(nlohmann::json::parse(without.out).at("outputs"), nlohmann::json::parse(with.out).at("outputs"));
  // Without a plan there is nothing generated, and the reason says what is missing.
  const Finished anew = run_attune("kernel 'Relu@14(f32[8]) -> (f32[8]) {}' --show asm");
  EXPECT_EQ(anew.exit_code, 2);
  EXPECT_NE(anew.err.find("ATTUNE_CODEGEN_MODULE"), std::string::npos) << anew.err;
}

}  // namespace
}  // namespace attune
