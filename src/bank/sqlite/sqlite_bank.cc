#include "bank/sqlite/sqlite_bank.h"

#include "bank/record_text.h"
#include "bank/sqlite/check.h"
#include "bank/sqlite/record_row.h"
#include "bank/sqlite/schema.h"
#include "base/error.h"
#include "base/hash.h"

#include <unistd.h>

#include <ctime>

namespace attune {
namespace fs = std::filesystem;
using sqlite::Database;
using sqlite::OpenMode;
using sqlite::Query;
using sqlite::Transaction;

namespace {

constexpr int64_t kRowsAtOnce = 512;

}  // namespace

uint64_t text_hash(std::string_view text) { return hash_bytes(std::as_bytes(std::span(text.data(), text.size()))); }

SqliteBank::SqliteBank(const fs::path& path, const SqliteBankOptions& options) : path_(path), options_(options) {
  open_existing();
}

SqliteBank::~SqliteBank() {
  // Closing in a child after fork() would touch the locks of the parent's file.
  if (owner_ != getpid()) static_cast<void>(database_.release());
}

void SqliteBank::open(OpenMode mode) const {
  auto database =
      std::make_unique<Database>(path_, Database::Options{.mode = mode, .busy_timeout_ms = options_.busy_timeout_ms});
  if (database->is_read_only()) {
    if (sqlite::needs_migration(*database)) database = Database::copy_to_memory(*database);
  } else {
    sqlite::needs_migration(*database);  // throws for a foreign file before anything touches it
    // The rollback journal: write-ahead logs of SQLite before 3.51.3 can damage a file that two processes write.
    // Emptied rather than deleted: as durable, since FULL flushes it then, and 0.7 ms a record where deleting takes 17.
    database->execute("PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  }
  sqlite::migrate(*database);
  database_ = std::move(database);
  owner_ = getpid();
}

Database* SqliteBank::open_existing() const {
  if (database_ == nullptr) {
    if (sqlite::inspect_file(path_) == sqlite::FileState::absent) return nullptr;
    open(options_.access == BankAccess::read_only ? OpenMode::read_only : OpenMode::read_write);
  }
  if (owner_ != getpid()) throw InternalError("the bank '{}' was opened before fork()", name());
  return database_.get();
}

Database& SqliteBank::open_or_create() {
  if (options_.access == BankAccess::read_only)
    throw UserError("the bank '{}' is open for reading only; give another with --bank", name());
  if (Database* database = open_existing()) return *database;
  std::error_code error;
  if (path_.has_parent_path()) fs::create_directories(path_.parent_path(), error);
  if (error)
    throw UserError("cannot make the folder of the bank '{}': {}; give another with --bank", name(), error.message());
  open(OpenMode::create);
  return *database_;
}

std::optional<int64_t> SqliteBank::find_text(Database& database, std::string_view table, std::string_view text) const {
  Query row = database.query(fmt::format("SELECT id, canon FROM {} WHERE hash = ?1", table));
  row.bind(1, static_cast<int64_t>(options_.hash(text)));
  while (row.step())
    if (row.text(1) == text) return row.integer(0);
  return std::nullopt;
}

int64_t SqliteBank::intern(Database& database, std::string_view table, std::string_view text) const {
  if (const auto id = find_text(database, table, text)) return *id;
  Query row = database.query(fmt::format("INSERT INTO {}(hash, canon) VALUES(?1, ?2) RETURNING id", table));
  row.bind(1, static_cast<int64_t>(options_.hash(text))).bind(2, text);
  row.step();
  return row.integer(0);
}

void SqliteBank::insert(Database& database, const std::string& id, const Record& record) const {
  const sqlite::TextIds texts{.device = intern(database, "device", record.key.device),
                              .workload = intern(database, "workload", record.key.workload),
                              .environment = intern(database, "environment", record.environment),
                              .config = intern(database, "config", config_json(record.config))};
  sqlite::insert_row(database, id, texts, record);
}

AddCounts SqliteBank::add(std::span<const Record> records) {
  for (const Record& record : records)
    if (const auto flaw = find_flaw(record)) throw InternalError("a record for the bank is wrong: {}", *flaw);
  AddCounts counts;
  if (records.empty()) return counts;
  Database& database = open_or_create();
  Transaction transaction(database);
  for (const Record& record : records) {
    const std::string id = record_id(record);
    if (database.query("SELECT 1 FROM tombstone WHERE rid = ?1").bind(1, id).step()) {
      ++counts.removed;
    } else if (database.query("SELECT 1 FROM record WHERE rid = ?1").bind(1, id).step()) {
      ++counts.known;
    } else {
      insert(database, id, record);
      ++counts.added;
    }
  }
  transaction.commit();
  return counts;
}

int64_t SqliteBank::remove(std::span<const std::string> ids, Removal removal) {
  if (ids.empty() || open_existing() == nullptr) return 0;
  Database& database = open_or_create();
  Transaction transaction(database);
  int64_t count = 0;
  for (const std::string& id : ids) {
    Query row = database.query("DELETE FROM record WHERE rid = ?1 RETURNING id");
    row.bind(1, id);
    if (!row.step()) continue;
    ++count;
    if (removal == Removal::until_merged) continue;
    database.query("INSERT INTO tombstone(rid, removed_at) VALUES(?1, ?2)")
        .bind(1, id)
        .bind(2, std::time(nullptr))
        .run();
  }
  for (const std::string_view table : {"device", "workload", "environment", "config"})
    database.query(fmt::format("DELETE FROM {0} WHERE id NOT IN (SELECT {0} FROM record)", table)).run();
  transaction.commit();
  return count;
}

void SqliteBank::each(const RecordFilter& filter, const RecordVisitor& visit) const {
  Database* database = open_existing();
  if (database == nullptr) return;
  // In portions: a visitor may be slow, and writers must not wait for it.
  std::string last;
  std::vector<Record> portion;
  do {
    portion.clear();
    {
      Query row = database->query(sqlite::select_rows("WHERE r.rid > ?1 ORDER BY r.rid LIMIT ?2"));
      row.bind(1, last).bind(2, kRowsAtOnce);
      while (row.step()) {
        portion.push_back(sqlite::read_row(row));
        last = row.text(sqlite::kIdColumn);
      }
    }
    for (const Record& record : portion)
      if (matches(filter, record)) visit(record);
  } while (static_cast<int64_t>(portion.size()) == kRowsAtOnce);
}

std::vector<Record> SqliteBank::find(const BankKey& key) const {
  std::vector<Record> records;
  Database* database = open_existing();
  if (database == nullptr) return records;
  const sqlite::Snapshot snapshot(*database);  // rows of texts that are removed and made anew may change their numbers
  const auto device = find_text(*database, "device", key.device);
  const auto workload = find_text(*database, "workload", key.workload);
  if (!device || !workload) return records;
  Query row = database->query(
      sqlite::select_rows("WHERE r.workload = ?1 AND r.device = ?2 AND r.mode = ?3 AND r.threads = ?4 ORDER BY r.rid"));
  row.bind(1, *workload).bind(2, *device).bind(3, key.mode).bind(4, int64_t{key.threads});
  while (row.step()) {
    records.push_back(sqlite::read_row(row));
    // SQLite has no checksums of its own, and what find() returns is applied.
    if (record_id(records.back()) != row.text(sqlite::kIdColumn))
      throw UserError(
          "the bank '{}' is damaged: record {} has other contents than when it was written; "
          "'attune bank verify' lists all of them, 'attune bank prune --damaged' removes them",
          name(), row.text(sqlite::kIdColumn).substr(0, 12));
  }
  return records;
}

std::set<std::string> SqliteBank::devices() const {
  std::set<std::string> devices;
  Database* database = open_existing();
  if (database == nullptr) return devices;
  Query row = database->query("SELECT canon FROM device");
  while (row.step()) devices.insert(row.text(0));
  return devices;
}

BankHealth SqliteBank::verify() const {
  Database* database = open_existing();
  return database == nullptr ? BankHealth{} : sqlite::check_bank(*database, options_.hash);
}

}  // namespace attune
