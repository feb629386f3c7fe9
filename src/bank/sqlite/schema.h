// The tables of a bank's file, and how older files become present ones.
#pragma once

#include "bank/sqlite/database.h"

namespace attune::sqlite {

inline constexpr int64_t kApplicationId = 0x4174756E;  // "Atun", in the file's header: `file` and SQLite show it
int64_t newest_schema();

enum class FileState : uint8_t { absent, bank };

/// Looks at the file without SQLite, so that a file which is not ours stays as it is: absent (or empty), or the file of
/// a bank. Throws UserError for anything else.
FileState inspect_file(const std::filesystem::path& path);

/// Brings the file to the newest schema: creates the tables in an empty one, migrates an older one. Several processes
/// may try at once. Throws UserError for a foreign file and for one of a newer attune.
void migrate(Database& database);
/// Whether migrate() would change the file. Throws as it does.
bool needs_migration(Database& database);

}  // namespace attune::sqlite
