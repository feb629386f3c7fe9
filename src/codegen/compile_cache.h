// Objects that were compiled before, on disk. Several processes may share a folder: entries appear whole, and a damaged
// one counts as absent.
#pragma once

#include "codegen/compiler.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace attune {

struct CompileCacheOptions {
  enum class Mode {
    enable,   // look up, then keep what was compiled
    disable,  // neither
    force,    // compile anew and replace what is there
  };
  Mode mode = Mode::enable;
  std::filesystem::path folder;
  int64_t limit_bytes = 512 << 20;  // the entries used longest ago go first
};

/// From ATTUNE_COMPILE_CACHE (enable, disable, force), ATTUNE_COMPILE_CACHE_DIR (else attune/kernels in the user's
/// cache folder) and ATTUNE_COMPILE_CACHE_MIB. Throws UserError for values that are none.
CompileCacheOptions compile_cache_options();

/// What decides the bytes of an object: text, compiler and flags. The flags name the instruction set.
std::string compile_cache_key(const GeneratedSource& source, const std::string& compiler_version,
                              const CompileOptions& options);

class CompileCache {
 public:
  explicit CompileCache(CompileCacheOptions options) : options_(std::move(options)) {}

  /// Nothing when there is no whole entry with exactly this key. A hit counts as a use.
  std::optional<std::vector<std::byte>> find(const std::string& key) const;
  /// Does not fail: a cache that cannot be written only costs time.
  void store(const std::string& key, std::span<const std::byte> object) const;
  /// Removes the entries used longest ago until the rest is within the limit; store() does it now and then.
  void trim() const;
  std::filesystem::path path_of(const std::string& key) const;

 private:
  CompileCacheOptions options_;
};

}  // namespace attune
