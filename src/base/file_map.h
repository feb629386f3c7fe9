// A file mapped read-only into memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace attune {

class FileMap {
 public:
  /// Maps a regular file; throws UserError naming the path otherwise.
  static std::shared_ptr<const FileMap> open(const std::filesystem::path& path);
  /// Takes over an open descriptor of a regular file; `what` names it in errors.
  static std::shared_ptr<const FileMap> from_descriptor(int descriptor, const std::string& what);

  ~FileMap();
  FileMap(const FileMap&) = delete;
  FileMap& operator=(const FileMap&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  /// Tells the system that a range was read once and is not needed soon, so it stops counting as resident.
  void release(std::span<const std::byte> range) const;

 private:
  FileMap(const std::byte* data, size_t size) : data_(data), size_(size) {}
  const std::byte* data_;
  size_t size_;
};

}  // namespace attune
