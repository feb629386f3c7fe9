#include "bank/sqlite/sqlite_bank.h"

#include "bank/sample_records.h"
#include "base/error.h"
#include "io/temp_folder.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

uint64_t constant_hash(std::string_view) { return 42; }

TEST(SqliteBank, gives_back_what_was_added_after_it_was_closed) {
  const TempFolder folder(TempFolder::in_memory());
  Random random(3);
  std::map<std::string, Record> written;
  {
    SqliteBank bank(folder.file("bank.sqlite"));
    for (int i = 0; i < 60; ++i) {
      const Record record = random_record(random);
      written.emplace(record_id(record), record);
      bank.add(record);
    }
  }
  const SqliteBank bank(folder.file("bank.sqlite"));
  std::map<std::string, Record> read;
  bank.each({}, [&](const Record& record) { read.emplace(record_id(record), record); });
  EXPECT_EQ(read, written);
  EXPECT_TRUE(bank.verify().problems.empty());
  EXPECT_EQ(bank.verify().records, static_cast<int64_t>(written.size()));
}

TEST(SqliteBank, visits_more_records_than_it_reads_at_once_in_the_order_of_ids) {
  const TempFolder folder(TempFolder::in_memory());
  SqliteBank bank(folder.file("bank.sqlite"));
  std::vector<Record> records;
  for (int i = 0; i < 1025; ++i) records.push_back(sample_record(i));
  EXPECT_EQ(bank.add(records).added, 1025);
  std::string last;
  int count = 0;
  bank.each({}, [&](const Record& record) {
    EXPECT_LT(last, record_id(record));
    last = record_id(record);
    ++count;
  });
  EXPECT_EQ(count, 1025);
}

TEST(SqliteBank, counts_a_record_that_it_knows_and_keeps_it_once) {
  const TempFolder folder(TempFolder::in_memory());
  SqliteBank bank(folder.file("bank.sqlite"));
  EXPECT_EQ(bank.add(sample_record()).added, 1);
  Record again = sample_record();
  again.origin = Origin::imported;
  EXPECT_EQ(bank.add(again).known, 1);
  ASSERT_EQ(bank.find(sample_key()).size(), 1u);
  EXPECT_EQ(bank.find(sample_key())[0].origin, Origin::local);
}

TEST(SqliteBank, creates_its_file_with_the_first_record_only) {
  const TempFolder folder(TempFolder::in_memory());
  const auto path = folder.file("a") / "b" / "bank.sqlite";
  SqliteBank bank(path);
  EXPECT_TRUE(bank.find(sample_key()).empty());
  EXPECT_FALSE(bank.best(sample_key(), sample_environment));
  bank.each({}, [](const Record&) { FAIL(); });
  EXPECT_EQ(bank.verify().records, 0);
  EXPECT_EQ(bank.remove(std::vector<std::string>{"x"}, Removal::for_good), 0);
  EXPECT_FALSE(std::filesystem::exists(folder.file("a")));
  bank.add(sample_record());
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(SqliteBank, refuses_a_flawed_record_and_adds_none_of_its_company) {
  const TempFolder folder(TempFolder::in_memory());
  SqliteBank bank(folder.file("bank.sqlite"));
  std::vector<Record> records = {sample_record(1), sample_record(2)};
  records[1].samples_ns.clear();
  EXPECT_THROW(bank.add(records), InternalError);
  EXPECT_TRUE(bank.find(sample_key()).empty());
}

/// Whether anything applies for this key where onednn has this environment.
bool applies(const Bank& bank, const BankKey& key, const std::string& environment) {
  return bank.best(key, [&](const std::string&) { return environment; }).has_value();
}

void flip(std::string& text, size_t i) { text[i] = static_cast<char>(text[i] ^ 1); }

void expect_no_flipped_key_applies(TextHash hash) {
  const TempFolder folder(TempFolder::in_memory());
  SqliteBank bank(folder.file("bank.sqlite"), {.hash = hash});
  const Record record = sample_record();
  bank.add(record);
  ASSERT_TRUE(applies(bank, record.key, record.environment));
  for (std::string BankKey::*field : {&BankKey::device, &BankKey::workload, &BankKey::mode}) {
    for (size_t i = 0; i < (record.key.*field).size(); ++i) {
      BankKey key = record.key;
      flip(key.*field, i);
      EXPECT_FALSE(applies(bank, key, record.environment)) << key.*field;
    }
    for (const std::string& text : {record.key.*field + " ", (record.key.*field).substr(1), std::string()}) {
      BankKey key = record.key;
      key.*field = text;
      EXPECT_FALSE(applies(bank, key, record.environment)) << text;
    }
  }
  for (const int threads : {0, 1, 3, 1 << 20}) {
    BankKey key = record.key;
    key.threads = threads;
    EXPECT_FALSE(applies(bank, key, record.environment)) << threads;
  }
  for (size_t i = 0; i < record.environment.size(); ++i) {
    std::string environment = record.environment;
    flip(environment, i);
    EXPECT_FALSE(applies(bank, record.key, environment)) << environment;
  }
  EXPECT_FALSE(applies(bank, record.key, ""));
}

TEST(SqliteBank, applies_no_record_whose_key_differs_in_one_bit) { expect_no_flipped_key_applies(text_hash); }

TEST(SqliteBank, applies_no_record_of_another_key_when_all_hashes_are_equal) {
  expect_no_flipped_key_applies(constant_hash);
}

TEST(SqliteBank, keeps_keys_apart_when_all_hashes_are_equal) {
  const TempFolder folder(TempFolder::in_memory());
  SqliteBank bank(folder.file("bank.sqlite"), {.hash = constant_hash});
  for (int i = 0; i < 40; ++i) {
    Record record = sample_record(i);
    record.key = sample_key(i);
    record.key.device += i % 2 ? " odd" : "";
    bank.add(record);
  }
  for (int i = 0; i < 40; ++i) {
    BankKey key = sample_key(i);
    EXPECT_EQ(bank.find(key).size(), i % 2 ? 0u : 1u);
    key.device += " odd";
    EXPECT_EQ(bank.find(key).size(), i % 2 ? 1u : 0u);
  }
  EXPECT_TRUE(bank.verify().problems.empty());
}

TEST(SqliteBank, passes_only_what_the_filter_asks_for) {
  const TempFolder folder(TempFolder::in_memory());
  SqliteBank bank(folder.file("bank.sqlite"));
  Record other = sample_record(1);
  other.key.workload = "MatMul@13(f32[8x8], f32[8x8]*) -> (f32[8x8]) {}";
  other.outcome = Outcome::crashed;
  other.measured_at = 100;
  bank.add(std::vector{sample_record(0), other});
  const auto count = [&](const RecordFilter& filter) {
    int n = 0;
    bank.each(filter, [&](const Record&) { ++n; });
    return n;
  };
  EXPECT_EQ(count({}), 2);
  EXPECT_EQ(count({.workload = "8x8"}), 1);
  EXPECT_EQ(count({.op = "matmul"}), 1);
  EXPECT_EQ(count({.op = "Mat"}), 0);
  EXPECT_EQ(count({.outcome = Outcome::crashed}), 1);
  EXPECT_EQ(count({.outcome = Outcome::wrong}), 0);
  EXPECT_EQ(count({.device = sample_key().device}), 2);
  EXPECT_EQ(count({.device = "cpu"}), 0);
  EXPECT_EQ(count({.measured_before = 101}), 1);
  EXPECT_EQ(count({.op = "MatMul", .outcome = Outcome::ok}), 0);
}

TEST(SqliteBank, keeps_removed_records_away_unless_they_were_damaged) {
  const TempFolder folder(TempFolder::in_memory());
  SqliteBank bank(folder.file("bank.sqlite"));
  bank.add(std::vector{sample_record(0), sample_record(1), sample_record(2)});
  EXPECT_EQ(bank.remove(std::vector{record_id(sample_record(0))}, Removal::for_good), 1);
  EXPECT_EQ(bank.remove(std::vector{record_id(sample_record(1))}, Removal::until_merged), 1);
  EXPECT_EQ(bank.find(sample_key()).size(), 1u);
  const AddCounts counts = bank.add(std::vector{sample_record(0), sample_record(1)});
  EXPECT_EQ(counts.removed, 1);
  EXPECT_EQ(counts.added, 1);
  EXPECT_EQ(bank.find(sample_key()).size(), 2u);
  EXPECT_TRUE(bank.verify().problems.empty());
}

TEST(SqliteBank, writes_nothing_when_open_for_reading) {
  const TempFolder folder(TempFolder::in_memory());
  SqliteBank(folder.file("bank.sqlite")).add(sample_record());
  const std::string before = TempFolder::read(folder.file("bank.sqlite"));
  SqliteBank bank(folder.file("bank.sqlite"), {.access = BankAccess::read_only});
  EXPECT_EQ(bank.find(sample_key()).size(), 1u);
  EXPECT_THROW(bank.add(sample_record(1)), UserError);
  EXPECT_THROW(bank.remove(std::vector{record_id(sample_record())}, Removal::for_good), UserError);
  EXPECT_EQ(TempFolder::read(folder.file("bank.sqlite")), before);
}

}  // namespace
}  // namespace attune
