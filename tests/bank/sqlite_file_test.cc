// Files that are not what a bank should be: foreign, damaged, older, newer.
#include "bank/sample_records.h"
#include "bank/sqlite/schema.h"
#include "bank/sqlite/sqlite_bank.h"
#include "base/error.h"
#include "io/temp_folder.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

namespace fs = std::filesystem;

std::string refusal_of(const fs::path& path) {
  try {
    SqliteBank bank(path);
    bank.add(sample_record());
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

void run_sql(const fs::path& path, const char* sql) {
  sqlite::Database database(path, {.mode = sqlite::OpenMode::create});
  database.execute(sql);
}

TEST(SqliteFile, of_another_program_is_refused_and_left_alone) {
  const TempFolder folder(TempFolder::in_memory());
  folder.write("text", "my thesis\n");
  folder.write("long_text", std::string(5000, 'x'));
  folder.write("cut", "SQLite format 3");
  run_sql(folder.file("shop.sqlite"), "CREATE TABLE customer(name TEXT)");
  run_sql(folder.file("other.sqlite"), "PRAGMA application_id = 7; CREATE TABLE t(x)");
  for (const char* name : {"text", "long_text", "cut", "shop.sqlite", "other.sqlite"}) {
    const std::string before = TempFolder::read(folder.file(name));
    EXPECT_NE(refusal_of(folder.file(name)).find("is not a bank of attune; it was left as it is"), std::string::npos)
        << name;
    EXPECT_EQ(TempFolder::read(folder.file(name)), before) << name;
  }
  EXPECT_EQ(folder.entries(), 5) << "no journals are left behind";
}

TEST(SqliteFile, may_not_be_a_folder_or_lie_under_a_file) {
  const TempFolder folder(TempFolder::in_memory());
  fs::create_directory(folder.file("banks"));
  EXPECT_NE(refusal_of(folder.file("banks")).find("is a folder"), std::string::npos);
  folder.write("file", "x");
  EXPECT_NE(refusal_of(folder.file("file") / "bank.sqlite").find("cannot make the folder"), std::string::npos);
}

TEST(SqliteFile, that_is_empty_becomes_a_bank) {
  const TempFolder folder(TempFolder::in_memory());
  folder.write("bank.sqlite", "");
  EXPECT_EQ(refusal_of(folder.file("bank.sqlite")), "accepted");
}

TEST(SqliteFile, of_a_newer_attune_is_refused_and_left_alone) {
  const TempFolder folder(TempFolder::in_memory());
  const fs::path path = folder.file("bank.sqlite");
  SqliteBank(path).add(sample_record());
  run_sql(path, "PRAGMA user_version = 99");
  const std::string before = TempFolder::read(path);
  EXPECT_NE(refusal_of(path).find("written by a newer attune (schema 99"), std::string::npos);
  EXPECT_EQ(TempFolder::read(path), before);
}

TEST(SqliteFile, whose_bytes_were_changed_is_reported_or_reads_as_before) {
  const TempFolder folder(TempFolder::in_memory());
  const fs::path path = folder.file("bank.sqlite");
  std::map<std::string, Record> written;
  {
    SqliteBank bank(path);
    std::vector<Record> records;
    for (int i = 0; i < 40; ++i) records.push_back(sample_record(i));
    for (const Record& record : records) written.emplace(record_id(record), record);
    bank.add(records);
  }
  const std::string good = TempFolder::read(path);
  constexpr uint64_t kSeed = 5;
  SCOPED_TRACE(fmt::format("seed {}", kSeed));
  Random random(kSeed);
  int reported = 0;
  for (int round = 0; round < 300; ++round) {
    std::string bytes = good;
    for (int64_t n = random.below(3) + 1; n > 0; --n)
      bytes[static_cast<size_t>(random.below(static_cast<int64_t>(bytes.size())))] =
          static_cast<char>(random.below(256));
    if (round % 10 == 0) bytes.resize(static_cast<size_t>(random.below(static_cast<int64_t>(bytes.size()))));
    folder.write("bank.sqlite", bytes);
    try {
      const SqliteBank bank(path, {.access = BankAccess::read_only});
      if (const BankHealth health = bank.verify(); !health.problems.empty()) {
        ++reported;
        continue;
      }
      if (bytes.empty()) continue;
      for (const Record& record : bank.find(sample_key())) EXPECT_EQ(record, written.at(record_id(record)));
      EXPECT_EQ(bank.find(sample_key()).size(), written.size());
    } catch (const UserError&) {
      ++reported;
    }
  }
  EXPECT_GT(reported, 100);
}

TEST(SqliteFile, with_a_changed_record_applies_nothing_of_its_key_until_that_is_removed) {
  const TempFolder folder(TempFolder::in_memory());
  const fs::path path = folder.file("bank.sqlite");
  SqliteBank(path).add(std::vector{sample_record(0), sample_record(1)});
  run_sql(path, ("UPDATE record SET ratio_low = 0.1 WHERE rid = '" + record_id(sample_record(0)) + "'").c_str());
  SqliteBank bank(path);
  EXPECT_THROW(bank.find(sample_key()), UserError);
  const BankHealth health = bank.verify();
  ASSERT_EQ(health.damaged_ids, std::vector{record_id(sample_record(0))});
  EXPECT_EQ(health.problems.size(), 1u);
  bank.remove(health.damaged_ids, Removal::until_merged);
  EXPECT_EQ(bank.find(sample_key()).size(), 1u);
  EXPECT_EQ(bank.add(sample_record(0)).added, 1) << "the whole one may come back";
}

/// The tables as version 1 wrote them. Files like this one may be out there: this text never changes.
constexpr const char* kVersion1 = R"(
PRAGMA application_id = 1098151278;
PRAGMA user_version = 1;
CREATE TABLE device(id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, canon TEXT NOT NULL);
CREATE TABLE workload(id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, canon TEXT NOT NULL);
CREATE TABLE environment(id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, canon TEXT NOT NULL);
CREATE TABLE config(id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, canon TEXT NOT NULL);
CREATE INDEX device_hash ON device(hash);
CREATE INDEX workload_hash ON workload(hash);
CREATE INDEX environment_hash ON environment(hash);
CREATE INDEX config_hash ON config(hash);
CREATE TABLE record(
  id INTEGER PRIMARY KEY, rid TEXT NOT NULL UNIQUE,
  device INTEGER NOT NULL REFERENCES device(id), workload INTEGER NOT NULL REFERENCES workload(id),
  mode TEXT NOT NULL, threads INTEGER NOT NULL, provider TEXT NOT NULL,
  environment INTEGER NOT NULL REFERENCES environment(id), config INTEGER NOT NULL REFERENCES config(id),
  outcome TEXT NOT NULL, samples_ns BLOB NOT NULL, ratio REAL, ratio_low REAL, ratio_high REAL, max_error REAL,
  tolerance REAL NOT NULL, message TEXT NOT NULL, measured_at INTEGER NOT NULL, session TEXT NOT NULL,
  tool_version TEXT NOT NULL, origin TEXT NOT NULL);
CREATE INDEX record_key ON record(workload, device, mode, threads);
INSERT INTO device VALUES(1, 42, 'cpu vendor=V family=6 model=1 stepping=2; cores=2');
INSERT INTO workload VALUES(1, 42, 'Relu@14(f32[8]) -> (f32[8]) {}');
INSERT INTO environment VALUES(1, 42, 'library 1.0');
INSERT INTO config VALUES(1, 42, '{"impl":"jit"}');
INSERT INTO record VALUES(1, '9317648b558d0f6970217953ecbc186651d057500f9ee7cabd68ac280425fbd2', 1, 1, 'high_precision', 2, 'onednn', 1, 1,
  'ok', x'0000000000408F400000000000488F40', 0.5, 0.25, 0.75, 0.0, 0.00001, '', 1700000000, 's1', '0.1.0', 'local');
)";

uint64_t hash_of_version_1_file(std::string_view) { return 42; }

void expect_version_1_record(const Bank& bank) {
  const BankKey key{.device = "cpu vendor=V family=6 model=1 stepping=2; cores=2",
                    .workload = "Relu@14(f32[8]) -> (f32[8]) {}",
                    .mode = "high_precision",
                    .threads = 2};
  const auto best = bank.best(key, [](const std::string&) { return "library 1.0"; });
  ASSERT_TRUE(best);
  EXPECT_EQ(best->samples_ns, (std::vector<double>{1000, 1001}));
  EXPECT_EQ(best->config, (Config{{"impl", "jit"}}));
}

TEST(SqliteFile, of_version_1_is_migrated_and_keeps_its_records) {
  const TempFolder folder(TempFolder::in_memory());
  run_sql(folder.file("bank.sqlite"), kVersion1);
  {
    SqliteBank bank(folder.file("bank.sqlite"), {.hash = hash_of_version_1_file});
    expect_version_1_record(bank);
    bank.add(sample_record());
    EXPECT_EQ(bank.remove(std::vector{record_id(sample_record())}, Removal::for_good), 1) << "needs version 2";
    EXPECT_TRUE(bank.verify().problems.empty());
  }
  sqlite::Database database(folder.file("bank.sqlite"), {});
  EXPECT_EQ(database.number("PRAGMA user_version"), sqlite::newest_schema());
}

TEST(SqliteFile, of_version_1_that_cannot_be_written_is_read_all_the_same) {
  const TempFolder folder(TempFolder::in_memory());
  run_sql(folder.file("bank.sqlite"), kVersion1);
  const std::string before = TempFolder::read(folder.file("bank.sqlite"));
  const SqliteBank bank(folder.file("bank.sqlite"), {.access = BankAccess::read_only, .hash = hash_of_version_1_file});
  expect_version_1_record(bank);
  EXPECT_EQ(TempFolder::read(folder.file("bank.sqlite")), before);
}

TEST(SqliteFile, has_the_same_tables_when_new_as_when_migrated) {
  const TempFolder folder(TempFolder::in_memory());
  run_sql(folder.file("old.sqlite"), kVersion1);
  SqliteBank(folder.file("old.sqlite")).find(sample_key());
  SqliteBank(folder.file("new.sqlite")).add(sample_record());
  const auto tables = [&](const char* name) {
    sqlite::Database database(folder.file(name), {});
    sqlite::Query row = database.query(
        "SELECT group_concat(name || ':' || info.name || ' ' || info.type, ', ') FROM "
        "(SELECT s.name, i.name, i.type FROM sqlite_schema s, pragma_table_info(s.name) i "
        "ORDER BY 1, i.cid) AS info");
    return row.step() ? row.text(0) : "";
  };
  EXPECT_EQ(tables("old.sqlite"), tables("new.sqlite"));
}

}  // namespace
}  // namespace attune
