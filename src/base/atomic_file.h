// A file that appears under its name only when it is complete: a reader, or a crash half-way, never sees a part of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace attune {

class AtomicFile {
 public:
  /// Opens a temporary file beside `path`. Throws UserError when that cannot be done.
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();  // removes the temporary file unless it was committed
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  int64_t size_bytes() const { return size_bytes_; }
  void append(std::span<const std::byte> bytes);
  void append(std::string_view text) { append(std::as_bytes(std::span(text.data(), text.size()))); }
  /// Replaces bytes that were appended before.
  void overwrite(int64_t offset, std::span<const std::byte> bytes);
  /// Flushes to the disk and gives the file its name, replacing what was there.
  void commit();

 private:
  [[noreturn]] void fail(const char* action) const;
  void write_at(int64_t offset, std::span<const std::byte> bytes);

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int fd_ = -1;
  int64_t size_bytes_ = 0;
};

}  // namespace attune
