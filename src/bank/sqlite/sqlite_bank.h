// The bank in one SQLite file: no server, several processes at once, and nothing that was acknowledged is lost.
#pragma once

#include "bank/bank.h"

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string_view>

namespace attune {

namespace sqlite {
class Database;
enum class OpenMode : uint8_t;
}  // namespace sqlite

/// Finds the place of a text in the index; equal texts are then compared byte for byte.
using TextHash = uint64_t (*)(std::string_view text);
uint64_t text_hash(std::string_view text);

enum class BankAccess : uint8_t { read_only, read_write };

struct SqliteBankOptions {
  BankAccess access = BankAccess::read_write;
  int busy_timeout_ms = 30'000;  // how long to wait for other processes
  TextHash hash = text_hash;
};

/// A file that does not exist is an empty bank; the first record creates it, folders included. An older file is
/// migrated, in memory where it cannot be written.
class SqliteBank final : public Bank {
 public:
  explicit SqliteBank(const std::filesystem::path& path, const SqliteBankOptions& options = {});
  ~SqliteBank() override;

  using Bank::add;
  std::string name() const override { return path_.string(); }
  AddCounts add(std::span<const Record> records) override;
  int64_t remove(std::span<const std::string> ids, Removal removal) override;
  void each(const RecordFilter& filter, const RecordVisitor& visit) const override;
  std::vector<Record> find(const BankKey& key) const override;
  std::set<std::string> devices() const override;
  BankHealth verify() const override;

 private:
  sqlite::Database* open_existing() const;  // nullptr while there is no file
  sqlite::Database& open_or_create();
  void open(sqlite::OpenMode mode) const;
  std::optional<int64_t> find_text(sqlite::Database& database, std::string_view table, std::string_view text) const;
  int64_t intern(sqlite::Database& database, std::string_view table, std::string_view text) const;
  void insert(sqlite::Database& database, const std::string& id, const Record& record) const;

  std::filesystem::path path_;
  SqliteBankOptions options_;
  mutable std::unique_ptr<sqlite::Database> database_;
  mutable pid_t owner_ = 0;  // the process that opened it
};

}  // namespace attune
