// A file that appears whole or not at all: written under a temporary name beside its place, then renamed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace attune {

class AtomicFile {
 public:
  /// Throws UserError when the folder cannot be written.
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();  // removes the temporary file unless commit() was called
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  int64_t size() const { return size_; }
  void commit();

 private:
  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
  int64_t size_ = 0;
};

}  // namespace attune
