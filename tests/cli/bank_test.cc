// attune bank: its commands, on banks that the library wrote.
#include "bank/device_fingerprint.h"
#include "bank/jsonl.h"
#include "bank/location.h"
#include "bank/sample_records.h"
#include "bank/sqlite/sqlite_bank.h"
#include "cli/run_binary.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace attune {
namespace {

/// One that applies on this machine.
Record record_of_here(int number) {
  Record record = sample_record(number);
  record.key.device = device_text();
  record.provider = "reference";
  record.environment = present_environments()("reference").value();
  return record;
}

class BankProgram : public testing::Test {
 protected:
  void SetUp() override {
    Record crashed = record_of_here(1), other_environment = record_of_here(2);
    crashed.outcome = Outcome::crashed;
    crashed.message = "signal 11";
    crashed.ratio.reset();
    crashed.key.workload = "MatMul@13(f32[8x8], f32[8x8]*) -> (f32[8x8]) {}";
    other_environment.environment += " before";
    other_environment.ratio = Ratio{0.2, 0.1, 0.3};
    SqliteBank(path_).add(std::vector{record_of_here(0), crashed, other_environment});
  }
  /// On the bank of the fixture.
  Finished bank(const std::string& arguments) const { return run_attune("bank " + arguments + " --bank " + path_); }
  nlohmann::json json(const std::string& arguments) const {
    const Finished run = bank(arguments + " --format json");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return nlohmann::json::parse(run.out);
  }

  TempFolder folder_{TempFolder::in_memory()};
  const std::string path_ = folder_.file("bank.sqlite").string();
};

testing::AssertionResult says(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in: " << text;
}

TEST_F(BankProgram, lists_what_the_filters_ask_for) {
  EXPECT_EQ(json("list").size(), 3u);
  EXPECT_EQ(json("list --op conv").size(), 2u);
  EXPECT_EQ(json("list --outcome crashed").size(), 1u);
  EXPECT_EQ(json("list --workload 8x8").at(0).at("message"), "signal 11");
  EXPECT_TRUE(says(bank("list").out, "impl=brgconv:avx512_core, variant=0"));
  EXPECT_TRUE(says(bank("list --format csv").out, "id,outcome,provider,config,"));
}

TEST_F(BankProgram, shows_as_best_what_applies_here) {
  ASSERT_EQ(json("best").size(), 1u);
  EXPECT_EQ(json("best").at(0).at("config").at("variant"), "0");
  EXPECT_EQ(json("best --everywhere").at(0).at("config").at("variant"), "2");
}

TEST_F(BankProgram, shows_one_record_and_why_it_does_not_apply) {
  const std::string id = record_id(record_of_here(0));
  const auto shown = json("show " + id.substr(0, 10));
  EXPECT_EQ(shown.at("rid"), id);
  EXPECT_EQ(shown.at("samples_ns").size(), 3u);
  EXPECT_TRUE(shown.at("applies_here").get<bool>());
  const std::string other = json("best --everywhere").at(0).at("rid");
  EXPECT_TRUE(says(bank("show " + other).out, "'reference' ran in another environment"));
}

TEST_F(BankProgram, exports_what_imports_and_merges_back_the_same) {
  const std::string exported = bank("export").out;
  const std::string file = folder_.file("out.jsonl").string();
  EXPECT_EQ(json("export -o " + file).at("records"), 3);
  EXPECT_EQ(TempFolder::read(file), exported);
  const std::string other = " --bank " + folder_.file("other.sqlite").string();
  EXPECT_EQ(run_attune("bank import " + file + other).exit_code, 0);
  EXPECT_EQ(run_attune("bank merge " + path_ + " " + file + other).exit_code, 0);
  EXPECT_EQ(run_attune("bank export" + other).out, exported);
}

TEST_F(BankProgram, counts_and_names_damaged_lines) {
  const std::string file = folder_.write("in.jsonl", jsonl_line(record_of_here(5)) + "<<<<<<< HEAD\n").string();
  const Finished run = bank("import " + file + " --format json");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(says(run.err, "line 2: damaged"));
  const auto source = nlohmann::json::parse(run.out).at("sources").at(0);
  EXPECT_EQ(source.at("added"), 1);
  EXPECT_EQ(source.at("skipped").at("damaged"), 1);
  EXPECT_EQ(run_attune("bank verify --bank " + file).exit_code, 2);
}

TEST_F(BankProgram, refuses_to_merge_another_processor) {
  Record record = sample_record();
  record.key.device = "cpu vendor=Another family=1 model=1 stepping=1; isa=; caches=; cores=1; hypervisor=no";
  const std::string file = folder_.write("other.jsonl", jsonl_line(record)).string();
  const Finished run = bank("merge " + file);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(says(run.err, "merge banks of one processor only"));
  EXPECT_EQ(json("list").size(), 3u);
}

TEST_F(BankProgram, compares_two_banks) {
  Record faster = record_of_here(0);
  faster.ratio = Ratio{0.06, 0.05, 0.07};
  SqliteBank(folder_.file("new.sqlite")).add(faster);
  const std::string both = path_ + " " + folder_.file("new.sqlite").string();
  const auto data = nlohmann::json::parse(run_attune("bank diff " + both + " --op Conv --format json").out);
  ASSERT_EQ(data.size(), 1u);
  EXPECT_EQ(data.at(0).at("change"), "faster");
}

TEST_F(BankProgram, prunes_only_what_is_asked_for) {
  EXPECT_EQ(bank("prune").exit_code, 2);
  EXPECT_TRUE(says(bank("prune --older-than 3x").err, "such as 90d or 12h"));
  EXPECT_TRUE(says(bank("prune --older-than 1d --damaged").err, "leave out the other conditions"));
  EXPECT_EQ(json("prune --stale --dry-run").at("selected").size(), 1u);
  EXPECT_EQ(json("list").size(), 3u);
  EXPECT_EQ(json("prune --stale").at("removed"), 1);
  EXPECT_EQ(json("prune --outcome crashed --older-than 1d").at("removed"), 1);
  EXPECT_EQ(json("list").size(), 1u);
}

TEST_F(BankProgram, verifies_and_ends_with_2_when_something_is_wrong) {
  EXPECT_EQ(json("verify").at("records"), 3);
  std::string bytes = TempFolder::read(path_);
  const size_t at = bytes.find("signal 11");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'S';
  folder_.write("bank.sqlite", bytes);
  const Finished run = bank("verify");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(says(run.out, "other contents than when it was written"));
  EXPECT_EQ(json("prune --damaged").at("removed"), 1);
  EXPECT_EQ(bank("verify").exit_code, 0);
}

TEST_F(BankProgram, takes_its_bank_from_the_environment) {
  const std::string as_file = "TUNE_BANK_PATH=" + path_, as_folder = "TUNE_BANK_PATH=" + folder_.file("").string();
  for (const std::string& variable : {as_file, as_folder}) {
    const Finished run =
        run_attune("bank list >/dev/null; " + variable + " \"" ATTUNE_BINARY "\" bank list --format json");
    EXPECT_EQ(nlohmann::json::parse(run.out).size(), 3u) << variable;
  }
}

TEST_F(BankProgram, explains_wrong_use) {
  for (const auto& [arguments, message] : {
           std::pair{"bank", "what shall be done with the bank?"},
           {"bank lst", "'attune bank' has no 'lst'; did you mean 'list'?"},
           {"bank qqqqqqqqqqqq", "see 'attune bank --help'"},
           {"bank list --opp Conv", "unknown flag '--opp' for 'attune bank list'; did you mean '--op'?"},
           {"bank list surplus", "unexpected argument 'surplus' for 'attune bank list'"},
           {"bank list --outcome crash", "unknown outcome 'crash'; did you mean 'crashed'?"},
           {"bank list --bank nowhere.sqlite", "there is no bank 'nowhere.sqlite'"},
           {"bank show", "id is required"},
       }) {
    const Finished run = run_attune(arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_EQ(run.out, "") << arguments;
    EXPECT_TRUE(says(run.err, message));
  }
  const Finished foreign = run_attune("bank list --bank " + folder_.write("thesis.txt", "my thesis").string());
  EXPECT_EQ(foreign.exit_code, 2);
  EXPECT_TRUE(says(foreign.err, "is not a bank of attune"));
}

}  // namespace
}  // namespace attune
