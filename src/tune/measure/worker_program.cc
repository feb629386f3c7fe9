#include "tune/measure/worker_program.h"

#include "base/error.h"
#include "tune/measure/worker.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace attune::tune {
namespace {

bool can_run(const std::filesystem::path& path) { return access(path.c_str(), X_OK) == 0; }

}  // namespace

std::string find_worker_program(const std::string& given) {
  if (!given.empty()) {
    if (!can_run(given)) throw UserError("'{}' cannot be run as the measuring process", given);
    return given;
  }
  // Through /proc, so that it is the same program even when its file was replaced meanwhile.
  if (this_program_serves()) return "/proc/self/exe";
  Dl_info library{};
  if (dladdr(reinterpret_cast<void*>(&find_worker_program), &library) != 0 && library.dli_fname != nullptr) {
    const auto folder = std::filesystem::absolute(library.dli_fname).parent_path();
    for (const auto& path : {folder / "attune", folder.parent_path() / "bin" / "attune",
                             folder.parent_path().parent_path() / "bin" / "attune"})
      if (can_run(path)) return path;
  }
  std::istringstream folders(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty() && can_run(std::filesystem::path(folder) / "attune"))
      return std::filesystem::path(folder) / "attune";
  throw UserError(
      "measuring needs the program 'attune', which runs kernels in a process of their own; install it beside "
      "the library, put it into $PATH, or name it in the options (worker_program)");
}

}  // namespace attune::tune
