// Bytes that are read once, front to back, with their number known before the first is read: files, memory, members of
// an archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace attune {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual int64_t size_bytes() const = 0;
  /// Fills `out` with the next bytes. Throws UserError when they cannot be had.
  virtual void read(std::span<std::byte> out) = 0;
};

class MemorySource : public ByteSource {
 public:
  MemorySource(std::span<const std::byte> bytes, std::string_view what) : bytes_(bytes), what_(what) {}
  int64_t size_bytes() const override { return static_cast<int64_t>(bytes_.size()); }
  void read(std::span<std::byte> out) override;

 private:
  std::span<const std::byte> bytes_;
  std::string what_;
  size_t position_ = 0;
};

/// A regular file opened for reading. Throws UserError when there is none at `path`.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  int64_t size_bytes() const { return size_bytes_; }
  const std::string& name() const { return name_; }
  /// Fills `out` with the bytes from `offset` on; throws UserError when the file ends before.
  void read_at(int64_t offset, std::span<std::byte> out) const;

 private:
  std::string name_;
  int fd_ = -1;
  int64_t size_bytes_ = 0;
};

class FileSource : public ByteSource {
 public:
  explicit FileSource(const InputFile& file) : file_(file) {}
  int64_t size_bytes() const override { return file_.size_bytes(); }
  void read(std::span<std::byte> out) override;

 private:
  const InputFile& file_;
  int64_t position_ = 0;
};

}  // namespace attune
