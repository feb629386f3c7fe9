// Writing zip archives: stored or deflated members, zip64 where a number needs it.
#pragma once

#include "base/atomic_file.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace attune::zip {

class Writer {
 public:
  using Emit = std::function<void(std::span<const std::byte>)>;

  explicit Writer(const std::filesystem::path& path) : file_(path) {}

  /// Adds a member; `produce` is called once with the function that takes its content piece by piece.
  void add(const std::string& name, uint16_t method, const std::function<void(const Emit&)>& produce);
  /// Writes the directory and gives the file its name.
  void commit();

 private:
  struct Entry {
    std::string name;
    uint16_t flags = 0;
    uint16_t method = 0;
    uint32_t crc = 0;
    uint64_t compressed_bytes = 0;
    uint64_t size_bytes = 0;
    uint64_t offset = 0;
  };
  void append(const std::string& bytes);
  static std::string local_header(const Entry& entry);
  static std::string central_header(const Entry& entry);

  AtomicFile file_;
  std::vector<Entry> entries_;
};

}  // namespace attune::zip
