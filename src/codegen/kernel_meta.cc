#include "codegen/kernel_meta.h"

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/hash.h"
#include "codegen/compile_flags.h"
#include "codegen/compiler_module.h"

#include <nlohmann/json.hpp>

#include <cstdlib>

namespace attune {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.append(bytes);
  file.commit();
}

void write(const fs::path& path, std::string_view text) { write(path, std::as_bytes(std::span(text))); }

}  // namespace

KernelMetaOptions kernel_meta_options() {
  KernelMetaOptions options;
  const char* level = std::getenv("ATTUNE_KERNEL_META");
  const std::string text = level == nullptr ? "" : level;
  if (text == "1" || text == "2")
    options.level = text[0] - '0';
  else if (!text.empty() && text != "0")
    throw UserError("ATTUNE_KERNEL_META is '{}', expected 0, 1 or 2", text);
  if (const char* folder = std::getenv("ATTUNE_KERNEL_META_DIR"); folder != nullptr && *folder != '\0')
    options.folder = folder;
  return options;
}

void keep_kernel_meta(const KernelMetaOptions& options, const GeneratedSource& source, const CompileOptions& compile,
                      const KernelDescription& description, std::span<const std::byte> object) {
  if (options.level == 0) return;
  std::error_code ignored;
  fs::create_directories(options.folder, ignored);
  const uint64_t hash = hash_bytes(std::as_bytes(std::span(source.text)));
  const std::string stem = fmt::format("{}_{:016x}", source.entry, hash);
  const auto path = [&](const char* suffix) { return options.folder / (stem + suffix); };
  write(path(".cc"), source.text);
  const nlohmann::ordered_json json{{"entry", source.entry},           {"workload", description.workload},
                                    {"config", description.config},    {"isa", isa_name(compile.isa)},
                                    {"flags", compile_flags(compile)}, {"object_bytes", object.size()}};
  write(path(".json"), json.dump(2) + "\n");
  if (options.level < 2) return;
  write(path(".o"), object);
  if (const Compiler* compiler = find_compiler().compiler)
    if (const AssemblyText assembly = compiler->assembly(source, compile); assembly.ok())
      write(path(".s"), assembly.text);
}

}  // namespace attune
