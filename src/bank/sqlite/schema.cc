#include "bank/sqlite/schema.h"

#include "base/error.h"

#include <array>
#include <fstream>

namespace attune::sqlite {
namespace fs = std::filesystem;

namespace {

// Each text brings a file of one version less to this version. They are history: never changed, only followed by more.
constexpr const char* kMigrations[] = {
    // 1: the records. Long texts stand once; they are found by a hash and then compared, so equal hashes do no harm.
    R"(
CREATE TABLE device(id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, canon TEXT NOT NULL);
CREATE TABLE workload(id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, canon TEXT NOT NULL);
CREATE TABLE environment(id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, canon TEXT NOT NULL);
CREATE TABLE config(id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, canon TEXT NOT NULL);
CREATE INDEX device_hash ON device(hash);
CREATE INDEX workload_hash ON workload(hash);
CREATE INDEX environment_hash ON environment(hash);
CREATE INDEX config_hash ON config(hash);
CREATE TABLE record(
  id INTEGER PRIMARY KEY,
  rid TEXT NOT NULL UNIQUE,
  device INTEGER NOT NULL REFERENCES device(id),
  workload INTEGER NOT NULL REFERENCES workload(id),
  mode TEXT NOT NULL,
  threads INTEGER NOT NULL,
  provider TEXT NOT NULL,
  environment INTEGER NOT NULL REFERENCES environment(id),
  config INTEGER NOT NULL REFERENCES config(id),
  outcome TEXT NOT NULL,
  samples_ns BLOB NOT NULL,
  ratio REAL, ratio_low REAL, ratio_high REAL,
  max_error REAL,
  tolerance REAL NOT NULL,
  message TEXT NOT NULL,
  measured_at INTEGER NOT NULL,
  session TEXT NOT NULL,
  tool_version TEXT NOT NULL,
  origin TEXT NOT NULL);
CREATE INDEX record_key ON record(workload, device, mode, threads);
)",
    // 2: what was removed, so that merging with a bank that still has it does not bring it back.
    R"(
CREATE TABLE tombstone(rid TEXT PRIMARY KEY, removed_at INTEGER NOT NULL) WITHOUT ROWID;
)",
};

[[noreturn]] void refuse_foreign(const fs::path& path) {
  throw UserError("'{}' is not a bank of attune; it was left as it is, give the path of a bank or of a new file",
                  path.string());
}

int64_t big_endian(std::span<const char> bytes) {
  int64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

/// The version of the file; 0 for an empty one.
int64_t checked_version(Database& database) {
  const Snapshot snapshot(database);  // another process may be making the tables right now
  const int64_t application = database.number("PRAGMA application_id");
  const int64_t version = database.number("PRAGMA user_version");
  if (application == 0 && version == 0 && database.number("SELECT count(*) FROM sqlite_schema") == 0) return 0;
  if (application != kApplicationId || version < 1) refuse_foreign(database.path());
  if (version > newest_schema())
    throw UserError(
        "the bank '{}' was written by a newer attune (schema {}, this one knows {}); update attune, or "
        "export it there with 'attune bank export'",
        database.path().string(), version, newest_schema());
  return version;
}

}  // namespace

int64_t newest_schema() { return static_cast<int64_t>(std::size(kMigrations)); }

FileState inspect_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return FileState::absent;
  if (fs::is_directory(status))
    throw UserError("'{}' is a folder, and a bank is a file; give the file, such as '{}'", path.string(),
                    (path / "bank.sqlite").string());
  if (!fs::is_regular_file(status)) refuse_foreign(path);
  // The journal of a process that was killed: only SQLite can tell what the file is once it is undone.
  if (const auto bytes = fs::file_size(path.string() + "-journal", error); !error && bytes > 0) return FileState::bank;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UserError("cannot read the bank '{}'; check its permissions", path.string());
  std::array<char, 100> header{};
  file.read(header.data(), header.size());
  if (file.gcount() == 0) return FileState::absent;
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  if (file.gcount() < static_cast<std::streamsize>(header.size()) ||
      std::string_view(header.data(), kMagic.size()) != kMagic)
    refuse_foreign(path);
  constexpr size_t kApplicationIdAt = 68;  // https://www.sqlite.org/fileformat.html
  if (big_endian(std::span(header).subspan(kApplicationIdAt, 4)) != kApplicationId) refuse_foreign(path);
  return FileState::bank;
}

bool needs_migration(Database& database) { return checked_version(database) < newest_schema(); }

void migrate(Database& database) {
  if (!needs_migration(database)) return;
  Transaction transaction(database);
  // Another process may have done it while this one waited.
  for (int64_t version = checked_version(database); version < newest_schema(); ++version)
    database.execute(kMigrations[version]);
  database.execute(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str());
  database.execute(fmt::format("PRAGMA user_version = {}", newest_schema()).c_str());
  transaction.commit();
}

}  // namespace attune::sqlite
