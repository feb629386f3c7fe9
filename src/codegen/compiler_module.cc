#include "codegen/compiler_module.h"

#include "codegen/helper_compiler.h"

#include <fmt/core.h>

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace attune {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = "libattune_codegen.so";
constexpr const char* kHelper = "attune-compile";
constexpr const char* kRemedy =
    "install clang and LLVM 19 ('apt-get install libclang-19-dev llvm-19-dev' before building attune), or name the "
    "module with ATTUNE_CODEGEN_MODULE";

/// The folder of the executable or shared library that this code was linked into.
fs::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&find_compiler), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  // The dynamic linker knows an executable by how it was called, which may be a bare name.
  const fs::path file = fs::canonical(info.dli_fname, error);
  if (!error && file.has_parent_path() && fs::path(info.dli_fname).has_parent_path()) return file.parent_path();
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

std::vector<fs::path> candidates() {
  if (const char* named = std::getenv("ATTUNE_CODEGEN_MODULE"); named != nullptr && *named != '\0') return {named};
  const fs::path here = own_folder();
  // Beside it (a build folder, a library folder), in the library folder of an installed tree (bin/ and lib/…/attune),
  // and in the build folder above a test.
  return {here / kModule, here / "attune" / kModule, here.parent_path() / "lib" / "attune" / kModule,
          here.parent_path() / "lib" / ATTUNE_LIBRARY_ARCHITECTURE / "attune" / kModule, here.parent_path() / kModule};
}

/// The first that is there; empty when none is.
const fs::path& module_file() {
  static const fs::path found = [] {
    std::error_code error;
    for (const fs::path& path : candidates())
      if (fs::exists(path, error)) return path;
    return fs::path();
  }();
  return found;
}

CompilerLookup load_module() {
  if (!missing_compiler().empty()) return {nullptr, missing_compiler()};
  // RTLD_LOCAL keeps LLVM's symbols to the module.
  void* module = dlopen(module_file().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr)
    return {nullptr, fmt::format("the compiler module cannot be loaded ({}); {}", dlerror(), kRemedy)};
  const auto make = reinterpret_cast<MakeCompiler>(dlsym(module, kMakeCompiler));
  if (make == nullptr)
    return {nullptr,
            fmt::format("'{}' is no compiler module of this version of attune; {}", module_file().string(), kRemedy)};
  return {make(), ""};
}

/// What compile_in_process() was called with.
std::string& own_reason() {
  static std::string reason;
  return reason;
}

fs::path helper_file() {
  const char* named = std::getenv("ATTUNE_COMPILE_HELPER");
  return named == nullptr || *named == '\0' ? module_file().parent_path() / kHelper : fs::path(named);
}

CompilerLookup find_anew() {
  if (!missing_compiler().empty()) return {nullptr, missing_compiler()};
  if (!missing_helper().empty()) return load_compiler();
  static const HelperCompiler compiler({helper_file(), module_file()}, compiler_version());
  return {&compiler, ""};
}

}  // namespace

std::string compiler_version() { return ATTUNE_COMPILER_VERSION; }

std::string missing_helper() {
  if (!own_reason().empty()) return own_reason();
  const fs::path helper = helper_file();
  if (helper == "off") return "ATTUNE_COMPILE_HELPER is off";
  if (access(helper.c_str(), X_OK) == 0) return "";
  return fmt::format("there is no program '{}', and ATTUNE_COMPILE_HELPER names no other", helper.string());
}

void compile_in_process(std::string why) { own_reason() = std::move(why); }

const CompilerLookup& load_compiler() {
  static const CompilerLookup lookup = load_module();
  return lookup;
}

const std::string& missing_compiler() {
  static const std::string problem =
      module_file().empty() ? fmt::format("there is no compiler module {} on this machine; {}", kModule, kRemedy) : "";
  return problem;
}

const CompilerLookup& find_compiler() {
  static const CompilerLookup lookup = find_anew();
  return lookup;
}

}  // namespace attune
