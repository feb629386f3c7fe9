#include "bank/location.h"

#include "bank/jsonl.h"
#include "bank/layered_bank.h"
#include "base/error.h"
#include "providers/providers.h"

#include <cstdlib>
#include <fstream>

namespace attune {
namespace fs = std::filesystem;

namespace {

constexpr const char* kFileName = "bank.sqlite";

/// An environment variable; nothing when it is not set or empty.
std::optional<fs::path> path_of_variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return fs::path(value);
}

fs::path my_path() {
  if (const auto given = path_of_variable("TUNE_BANK_PATH")) {
    std::error_code ignored;
    const bool is_folder = fs::exists(*given, ignored) ? fs::is_directory(*given, ignored) : !given->has_extension();
    return is_folder || !given->has_filename() ? *given / kFileName : *given;
  }
  // A relative one is to be ignored, says the XDG base directory specification.
  if (const auto data = path_of_variable("XDG_DATA_HOME"); data && data->is_absolute())
    return *data / "attune" / kFileName;
  if (const auto home = path_of_variable("HOME")) return *home / ".local" / "share" / "attune" / kFileName;
  throw UserError("there is no place for the bank: HOME is not set; set TUNE_BANK_PATH or give --bank FILE");
}

std::optional<fs::path> shipped_path() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return std::nullopt;
  const fs::path path = program.parent_path().parent_path() / "share" / "attune" / kFileName;
  return fs::exists(path, error) ? std::optional(path) : std::nullopt;
}

bool is_jsonl(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return file.get() == '{' || path.extension() == ".jsonl";
}

}  // namespace

BankPaths default_bank_paths() {
  return {.mine = my_path(), .team = path_of_variable("ATTUNE_TEAM_BANK"), .shipped = shipped_path()};
}

std::unique_ptr<Bank> open_bank_file(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) throw UserError("there is no bank '{}'; check the path", path.string());
  if (is_jsonl(path) && !fs::is_directory(path, error)) return std::make_unique<JsonlBank>(path);
  return std::make_unique<SqliteBank>(path, SqliteBankOptions{.access = BankAccess::read_only});
}

std::unique_ptr<Bank> open_one_bank(const std::string& given, BankAccess access) {
  const fs::path path = given.empty() ? my_path() : fs::path(given);
  std::error_code error;
  if (fs::is_regular_file(path, error) && is_jsonl(path)) return std::make_unique<JsonlBank>(path);
  if (path.extension() == ".jsonl")
    throw UserError("there is no bank '{}', and a new one would be a file of SQLite; give it another name",
                    path.string());
  return std::make_unique<SqliteBank>(path, SqliteBankOptions{.access = access});
}

std::unique_ptr<Bank> open_bank(const std::string& given, BankAccess access) {
  auto mine = open_one_bank(given, access);
  if (!given.empty()) return mine;
  const BankPaths paths = default_bank_paths();
  std::vector<std::unique_ptr<Bank>> others;
  std::error_code error;
  if (paths.team) {
    if (!fs::exists(*paths.team, error))
      throw UserError("there is no bank '{}', which ATTUNE_TEAM_BANK names; correct it, or unset it",
                      paths.team->string());
    others.push_back(open_bank_file(*paths.team));
  }
  if (paths.shipped) others.push_back(open_bank_file(*paths.shipped));
  if (others.empty()) return mine;
  return std::make_unique<LayeredBank>(std::move(mine), std::move(others));
}

EnvironmentOf present_environments() {
  return [](const std::string& name) -> std::optional<std::string> {
    for (const Provider* provider : providers())
      if (provider->name() == name) return provider->environment();
    return std::nullopt;
  };
}

}  // namespace attune
