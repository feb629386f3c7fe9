#include "codegen/compile_cache.h"

#include "base/error.h"
#include "base/hash.h"
#include "codegen/compile_flags.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace attune {
namespace {

namespace fs = std::filesystem;

// An entry: header, key, object. The key is compared as text, for hashes only index.
struct EntryHeader {
  char magic[16];
  uint64_t checksum;  // of all after the header
  uint64_t key_bytes;
};
constexpr char kMagic[16] = "attune object 1";
constexpr const char* kSuffix = ".attune_object";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path user_cache() {
  if (const auto folder = variable("XDG_CACHE_HOME"); !folder.empty()) return folder;
  if (const auto home = variable("HOME"); !home.empty()) return fs::path(home) / ".cache";
  return fs::temp_directory_path();
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::vector<std::byte> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  std::vector<std::byte> bytes(static_cast<size_t>(file.tellg()));
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()))) return {};
  return bytes;
}

}  // namespace

CompileCacheOptions compile_cache_options() {
  CompileCacheOptions options;
  using Mode = CompileCacheOptions::Mode;
  if (const auto mode = variable("ATTUNE_COMPILE_CACHE"); mode == "disable")
    options.mode = Mode::disable;
  else if (mode == "force")
    options.mode = Mode::force;
  else if (!mode.empty() && mode != "enable")
    throw UserError("ATTUNE_COMPILE_CACHE is '{}', expected enable, disable or force", mode);
  const auto folder = variable("ATTUNE_COMPILE_CACHE_DIR");
  options.folder = folder.empty() ? user_cache() / "attune" / "kernels" : fs::path(folder);
  if (const auto text = variable("ATTUNE_COMPILE_CACHE_MIB"); !text.empty()) {
    int64_t mib = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mib);
    if (error != std::errc() || end != text.data() + text.size() || mib < 1 || mib > 1 << 20)
      throw UserError("ATTUNE_COMPILE_CACHE_MIB is '{}', expected a number of MiB from 1 on", text);
    options.limit_bytes = mib << 20;
  }
  return options;
}

std::string compile_cache_key(const GeneratedSource& source, const std::string& compiler_version,
                              const CompileOptions& options) {
  std::string key = compiler_version;
  for (const std::string& flag : compile_flags(options)) key += " " + flag;
  return key + "\n" + source.entry + "\n" + source.text;
}

fs::path CompileCache::path_of(const std::string& key) const {
  return options_.folder /
         fmt::format("{:016x}{:016x}{}", hash_bytes(bytes_of(key)), hash_bytes(bytes_of(key), 1), kSuffix);
}

std::optional<std::vector<std::byte>> CompileCache::find(const std::string& key) const {
  if (options_.mode != CompileCacheOptions::Mode::enable) return std::nullopt;
  const fs::path path = path_of(key);
  const std::vector<std::byte> bytes = read_file(path);
  EntryHeader header{};
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto body = std::span(bytes).subspan(sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.checksum != hash_bytes(body) ||
      header.key_bytes != key.size() || header.key_bytes > body.size() ||
      std::memcmp(body.data(), key.data(), key.size()) != 0)
    return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  const auto object = body.subspan(key.size());
  return std::vector<std::byte>(object.begin(), object.end());
}

void CompileCache::store(const std::string& key, std::span<const std::byte> object) const {
  if (options_.mode == CompileCacheOptions::Mode::disable) return;
  std::error_code ignored;
  fs::create_directories(options_.folder, ignored);
  std::vector<std::byte> entry(sizeof(EntryHeader) + key.size() + object.size());
  std::memcpy(entry.data() + sizeof(EntryHeader), key.data(), key.size());
  std::memcpy(entry.data() + sizeof(EntryHeader) + key.size(), object.data(), object.size());
  EntryHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.key_bytes = key.size();
  header.checksum = hash_bytes(std::span(entry).subspan(sizeof header));
  std::memcpy(entry.data(), &header, sizeof header);

  // Not synced to the disk: what a crash leaves in parts, its checksum gives away.
  static std::atomic<int> counter{0};
  const fs::path temporary = options_.folder / fmt::format(".{}-{}.tmp", getpid(), counter++);
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(entry.data()), static_cast<std::streamsize>(entry.size()));
    if (!file.flush()) {
      fs::remove(temporary, ignored);
      return;
    }
  }
  fs::rename(temporary, path_of(key), ignored);
  if (ignored) fs::remove(temporary, ignored);
  constexpr int kStoresBetweenTrims = 64;  // looking at every entry takes longer than compiling when there are many
  static std::atomic<int> stores{0};
  if (stores++ % kStoresBetweenTrims == 0) trim();
}

void CompileCache::trim() const {
  struct Entry {
    fs::file_time_type used;
    int64_t size_bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator at(options_.folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != kSuffix) continue;
    std::error_code gone;  // another process may have removed it
    const Entry entry{at->last_write_time(gone), static_cast<int64_t>(at->file_size(gone)), at->path()};
    if (gone) continue;
    entries.push_back(entry);
    total += entry.size_bytes;
  }
  if (total <= options_.limit_bytes) return;
  std::ranges::sort(entries, {}, &Entry::used);
  const int64_t wanted = options_.limit_bytes / 10 * 9;  // some room, so that not every store has to remove
  for (const Entry& entry : entries) {
    if (total <= wanted) break;
    std::error_code ignored;
    fs::remove(entry.path, ignored);
    total -= entry.size_bytes;
  }
}

}  // namespace attune
