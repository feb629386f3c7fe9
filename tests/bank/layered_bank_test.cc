#include "bank/layered_bank.h"

#include "bank/jsonl.h"
#include "bank/sample_records.h"
#include "bank/sqlite/sqlite_bank.h"
#include "io/temp_folder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace attune {
namespace {

class Layered : public testing::Test {
 protected:
  /// Mine with record 1, a team's with records 1 and 2.
  LayeredBank open() {
    auto mine = std::make_unique<SqliteBank>(folder_.file("mine.sqlite"));
    mine->add(sample_record(1));
    const auto path =
        folder_.write("team.jsonl", jsonl_line(sample_record(1)) + jsonl_line(better_record()) + "torn\n");
    std::vector<std::unique_ptr<Bank>> others;
    others.push_back(std::make_unique<JsonlBank>(path));
    return {std::move(mine), std::move(others)};
  }
  static Record better_record() {
    Record record = sample_record(2);
    record.ratio = Ratio{0.4, 0.3, 0.5};
    return record;
  }

  TempFolder folder_{TempFolder::in_memory()};
};

TEST_F(Layered, shows_each_record_once_in_the_order_of_ids) {
  const LayeredBank bank = open();
  std::vector<std::string> ids;
  bank.each({}, [&](const Record& record) { ids.push_back(record_id(record)); });
  EXPECT_EQ(ids.size(), 2u);
  EXPECT_TRUE(std::ranges::is_sorted(ids));
  EXPECT_EQ(bank.find(sample_key()).size(), 2u);
  EXPECT_EQ(bank.devices(), std::set{sample_key().device});
}

TEST_F(Layered, lets_evidence_decide_and_not_the_layer) {
  EXPECT_EQ(open().best(sample_key(), sample_environment)->config.at("variant"), "2");
}

TEST_F(Layered, writes_to_mine_only) {
  LayeredBank bank = open();
  const std::string before = TempFolder::read(folder_.file("team.jsonl"));
  EXPECT_EQ(bank.add(sample_record(3)).added, 1);
  EXPECT_EQ(bank.remove(std::vector{record_id(sample_record(1)), record_id(better_record())}, Removal::for_good), 1);
  EXPECT_EQ(TempFolder::read(folder_.file("team.jsonl")), before);
  EXPECT_EQ(ids_of(SqliteBank(folder_.file("mine.sqlite"))), std::set{record_id(sample_record(3))});
}

TEST_F(Layered, names_the_layer_of_a_problem) {
  const BankHealth health = open().verify();
  EXPECT_EQ(health.records, 3);
  ASSERT_EQ(health.problems.size(), 1u);
  EXPECT_NE(health.problems[0].find("team.jsonl: line 3: damaged"), std::string::npos) << health.problems[0];
}

}  // namespace
}  // namespace attune
