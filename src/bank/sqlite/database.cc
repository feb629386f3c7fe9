#include "bank/sqlite/database.h"

#include "base/error.h"

#include <sqlite3.h>

namespace attune::sqlite {

Query::Query(Database& database, std::string_view sql)
    : database_(database), sql_(sql), statement_(database.take(sql_)) {}

Query::~Query() { database_.give_back(sql_, statement_); }

Query& Query::bind(int index, int64_t value) {
  sqlite3_bind_int64(statement_, index, value);
  return *this;
}

Query& Query::bind(int index, double value) {
  sqlite3_bind_double(statement_, index, value);
  return *this;
}

Query& Query::bind(int index, const std::optional<double>& value) {
  if (value) return bind(index, *value);
  sqlite3_bind_null(statement_, index);
  return *this;
}

Query& Query::bind(int index, std::string_view text) {
  // A null pointer would bind NULL, and an empty view may have one.
  sqlite3_bind_text64(statement_, index, text.empty() ? "" : text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Query& Query::bind_blob(int index, std::span<const std::byte> bytes) {
  if (bytes.empty())
    sqlite3_bind_zeroblob(statement_, index, 0);
  else
    sqlite3_bind_blob64(statement_, index, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  return *this;
}

bool Query::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  database_.fail(code);
}

int64_t Query::integer(int column) const { return sqlite3_column_int64(statement_, column); }

double Query::real(int column) const { return sqlite3_column_double(statement_, column); }

std::optional<double> Query::optional_real(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return real(column);
}

std::string Query::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return "";
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

std::span<const std::byte> Query::blob(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  return {static_cast<const std::byte*>(bytes), static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

Database::Database(const std::filesystem::path& path, const Options& options) : path_(path) {
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (options.mode == OpenMode::read_only) flags = SQLITE_OPEN_READONLY;
  if (options.mode == OpenMode::read_write) flags = SQLITE_OPEN_READWRITE;
  const int code = sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr);
  if (code != SQLITE_OK) {
    const std::string reason = sqlite3_errmsg(handle_);
    sqlite3_close(handle_);
    throw UserError("cannot open the bank '{}': {}; check the folder and its permissions, or give another with --bank",
                    path.string(), reason);
  }
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_timeout(handle_, options.busy_timeout_ms);
  // A bank may come from anyone: nothing but our own statements runs.
  for (const int setting :
       {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_TRUSTED_SCHEMA})
    sqlite3_db_config(handle_, setting, 0, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
}

std::unique_ptr<Database> Database::copy_to_memory(Database& source) {
  sqlite3* handle = nullptr;
  if (sqlite3_open(":memory:", &handle) != SQLITE_OK) {
    sqlite3_close(handle);
    throw UserError("no memory for a copy of the bank '{}'", source.path_.string());
  }
  std::unique_ptr<Database> copy(new Database(handle, source.path_));
  sqlite3_backup* backup = sqlite3_backup_init(handle, "main", source.handle_, "main");
  if (backup == nullptr) copy->fail(sqlite3_extended_errcode(handle));
  const int code = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE) copy->fail(code);
  return copy;
}

Database::~Database() {
  for (const auto& [sql, statement] : idle_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

void Database::execute(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

void Database::execute_quietly(const char* sql) {
  static_cast<void>(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr));
}

int64_t Database::number(std::string_view sql) {
  Query row = query(sql);
  if (!row.step()) throw InternalError("no row for '{}'", sql);
  return row.integer(0);
}

bool Database::is_read_only() const { return sqlite3_db_readonly(handle_, "main") == 1; }

void Database::fail(int code) const {
  const std::string reason = sqlite3_errmsg(handle_), name = path_.string();
  if (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY)
    throw UserError(
        "a process was ended while it wrote the bank '{0}', and undoing that takes the right to write; "
        "with it, run 'attune bank verify --bank {0}' once",
        name);
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw UserError("the bank '{}' stayed locked by another process; wait for it to end, or give another bank", name);
    case SQLITE_FULL: throw UserError("no space left for the bank '{}'; free some, or give another bank", name);
    case SQLITE_READONLY:
      throw UserError("the bank '{}' cannot be written ({}); check its permissions, or give another with --bank", name,
                      reason);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      throw UserError("the bank '{}' is damaged ({}); put back a copy of it, or move it away to start a new one", name,
                      reason);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      throw UserError("cannot read or write the bank '{}': {}; check the disk and the permissions", name, reason);
    case SQLITE_NOMEM: throw std::bad_alloc();
    case SQLITE_ERROR:
    case SQLITE_SCHEMA:
      throw UserError("the bank '{}' does not have the tables it should have ({}); put back a copy of it", name,
                      reason);
    default: throw InternalError("SQLite error {} on the bank '{}': {}", code, name, reason);
  }
}

sqlite3_stmt* Database::take(const std::string& sql) {
  if (const auto found = idle_.find(sql); found != idle_.end()) {
    sqlite3_stmt* statement = found->second;
    idle_.erase(found);
    return statement;
  }
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                      &statement, nullptr);
  if (code != SQLITE_OK) fail(code);
  return statement;
}

void Database::give_back(const std::string& sql, sqlite3_stmt* statement) {
  sqlite3_reset(statement);  // lets go of the lock
  sqlite3_clear_bindings(statement);
  idle_.emplace(sql, statement);
}

Transaction::~Transaction() {
  if (open_) database_.execute_quietly("ROLLBACK");
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace attune::sqlite
