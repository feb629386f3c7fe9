// SQLite as the bank uses it: one connection, prepared statements, transactions, and error codes turned into messages
// with a remedy.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace attune::sqlite {

enum class OpenMode : uint8_t { read_only, read_write, create };

class Database;

/// A prepared statement for one execution; hands itself back for reuse when it goes.
class Query {
 public:
  Query(Database& database, std::string_view sql);
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  Query& bind(int index, int64_t value);
  Query& bind(int index, double value);
  Query& bind(int index, const std::optional<double>& value);
  Query& bind(int index, std::string_view text);
  Query& bind_blob(int index, std::span<const std::byte> bytes);

  /// True when there is a row.
  bool step();
  void run() {
    while (step()) {}
  }

  int64_t integer(int column) const;
  double real(int column) const;
  std::optional<double> optional_real(int column) const;
  std::string text(int column) const;
  std::span<const std::byte> blob(int column) const;  // valid until the next step

 private:
  Database& database_;
  std::string sql_;
  sqlite3_stmt* statement_;
};

class Database {
 public:
  struct Options {
    OpenMode mode = OpenMode::read_write;
    int busy_timeout_ms = 30'000;
  };
  /// Throws UserError when the file cannot be opened. SQLite reads nothing of it yet.
  Database(const std::filesystem::path& path, const Options& options);
  /// A copy in memory, for what must be changed before it can be read.
  static std::unique_ptr<Database> copy_to_memory(Database& source);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const char* sql);
  /// For the end of a scope: an error of it is that SQLite has ended the transaction by itself, after another error.
  void execute_quietly(const char* sql);
  Query query(std::string_view sql) { return Query(*this, sql); }
  int64_t number(std::string_view sql);  // the first column of the only row

  bool is_read_only() const;
  const std::filesystem::path& path() const { return path_; }
  /// Throws what the error code means for the user of the bank.
  [[noreturn]] void fail(int code) const;

 private:
  friend class Query;
  Database(sqlite3* handle, const std::filesystem::path& path) : path_(path), handle_(handle) {}
  sqlite3_stmt* take(const std::string& sql);
  void give_back(const std::string& sql, sqlite3_stmt* statement);

  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
  std::multimap<std::string, sqlite3_stmt*, std::less<>> idle_;
};

/// Several questions to one state of the file, whatever other processes commit meanwhile. May stand in a transaction.
class Snapshot {
 public:
  explicit Snapshot(Database& database) : database_(database) { database_.execute("SAVEPOINT snapshot"); }
  ~Snapshot() { database_.execute_quietly("RELEASE snapshot"); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  Database& database_;
};

/// Takes the right to write at once, waiting for other processes; undone unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace attune::sqlite
