// The built program: streams, exit codes, suggestions.
#include "cli/run_binary.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace attune {
namespace {

using testing::AssertionFailure;
using testing::AssertionSuccess;

testing::AssertionResult says(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return AssertionSuccess();
  return AssertionFailure() << "no \"" << part << "\" in: " << text;
}

TEST(Program, help_goes_to_stdout_and_lists_verbs_and_exit_codes) {
  const Finished run = run_attune("--help");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(says(run.out, "doctor"));
  EXPECT_TRUE(says(run.out, "Exit codes:"));
  EXPECT_TRUE(says(run.out, "130"));
  EXPECT_TRUE(says(run_attune("doctor --help").out, "--no-measure"));
}

TEST(Program, version_is_one_line) {
  const Finished run = run_attune("--version");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out.rfind("attune ", 0), 0u);
  EXPECT_EQ(run.out.find('\n'), run.out.size() - 1);
}

TEST(Program, wrong_use_exits_with_2_and_says_so_on_stderr_only) {
  for (const auto& [arguments, message] : {
           std::pair{"", "which verb?"},
           {"docter", "unknown verb 'docter'; did you mean 'doctor'?"},
           {"qqqqqqqqqqqqqqqq", "see 'attune --help' for the verbs"},
           {"doctor --fromat json", "unknown flag '--fromat' for 'attune doctor'; did you mean '--format'?"},
           {"doctor --no-mesure=1", "did you mean '--no-measure'?"},
           {"--formt json doctor", "did you mean '--format'?"},
           {"--format json doctor", "flag '--format' is out of place"},
           {"doctor --qqqqqqqqqqqqqqqqqqqq", "see 'attune doctor --help'"},
           {"doctor -x", "unknown flag '-x'"},
           {"doctor surplus", "unexpected argument 'surplus'"},
           {"doctor --format", "--format"},
           {"doctor --format xml", "unknown format 'xml'; choose table, json or csv"},
       }) {
    const Finished run = run_attune(arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_EQ(run.out, "") << arguments;
    EXPECT_EQ(run.err.rfind("attune: error: ", 0), 0u) << run.err;
    EXPECT_TRUE(says(run.err, message));
  }
}

TEST(Program, doctor_prints_a_table_json_or_csv) {
  const Finished table = run_attune("doctor --no-measure");
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_TRUE(says(table.out, "Caches\n------\n"));
  EXPECT_EQ(table.out.find("Ceilings"), std::string::npos);

  const Finished json = run_attune("doctor --no-measure --format json");
  const auto data = nlohmann::json::parse(json.out);
  EXPECT_GE(data.at("machine").at("usable_cores").get<int>(), 1);
  EXPECT_EQ(data.at("machine").at("fingerprint_hash").get<std::string>().size(), 16u);
  EXPECT_FALSE(data.at("libraries").empty());
  EXPECT_FALSE(data.contains("ceilings"));

  const Finished csv = run_attune("doctor --no-measure --format table --format csv");
  EXPECT_EQ(csv.out.rfind("table,row,column,value\r\n", 0), 0u);
  EXPECT_TRUE(says(csv.out, "Machine,1,item,processor\r\n"));
}

TEST(Program, doctor_measures_ceilings_unless_told_not_to) {
  const Finished run = run_attune("doctor --format json");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(says(run.err, "measuring"));
  EXPECT_GT(nlohmann::json::parse(run.out).at("ceilings").at(0).at("one_thread").get<double>(), 0);
}

TEST(Program, output_that_cannot_be_written_is_an_error) {
  for (const char* redirect : {">/dev/full", ">&-"}) {
    const Finished run = run_attune(std::string("doctor --no-measure ") + redirect);
    EXPECT_EQ(run.exit_code, 2) << redirect;
    EXPECT_TRUE(says(run.err, "cannot write to standard output"));
  }
}

TEST(Program, a_reader_that_has_enough_is_no_error) {
  const Finished run =
      run_attune("--help; exec 3>&1; { \"" ATTUNE_BINARY "\" doctor --no-measure; echo $? >&3; } | true");
  EXPECT_TRUE(says(run.out, "\n0\n"));
  EXPECT_EQ(run.err, "");
}

}  // namespace
}  // namespace attune
