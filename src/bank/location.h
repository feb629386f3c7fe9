// Where banks are: the one that is given, or mine with a team's and a shipped one behind it.
#pragma once

#include "bank/bank.h"
#include "bank/sqlite/sqlite_bank.h"

#include <filesystem>
#include <memory>

namespace attune {

struct BankPaths {
  std::filesystem::path mine;
  std::optional<std::filesystem::path> team;     // ATTUNE_TEAM_BANK
  std::optional<std::filesystem::path> shipped;  // share/attune/bank.sqlite beside the program's bin/, when it is there
};

/// Mine is TUNE_BANK_PATH, else $XDG_DATA_HOME/attune/bank.sqlite, else ~/.local/share/attune/bank.sqlite.
/// TUNE_BANK_PATH may be a file or a folder, in which the file is bank.sqlite: a folder is what exists as one, and what
/// does not exist and has no extension or ends in '/'.
BankPaths default_bank_paths();

/// For looking up, and for adding to mine: the file `given` alone, or, when that is empty, the default ones in layers.
std::unique_ptr<Bank> open_bank(const std::string& given, BankAccess access);
/// The file `given`, or mine, without the layers behind it.
std::unique_ptr<Bank> open_one_bank(const std::string& given, BankAccess access);

/// An existing file, SQLite or JSON lines, for reading. Throws UserError when there is none.
std::unique_ptr<Bank> open_bank_file(const std::filesystem::path& path);

/// The environments of the providers of this build on this machine.
EnvironmentOf present_environments();

}  // namespace attune
