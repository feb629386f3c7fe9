#include "base/file_map.h"

#include "base/error.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace attune {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() { ::close(fd); }
};

}  // namespace

std::shared_ptr<const FileMap> FileMap::open(const std::filesystem::path& path) {
  // Non-blocking, so that a pipe given by mistake is refused instead of waited for.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) throw UserError("cannot open '{}': {}", path.string(), std::strerror(errno));
  return from_descriptor(fd, "'" + path.string() + "'");
}

std::shared_ptr<const FileMap> FileMap::from_descriptor(int descriptor, const std::string& what) {
  const Descriptor file{descriptor};
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw UserError("cannot read {}: {}", what, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) throw UserError("{} is a folder, expected a file", what);
  if (!S_ISREG(status.st_mode)) throw UserError("{} is not a regular file", what);
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return std::shared_ptr<const FileMap>(new FileMap(nullptr, 0));
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (data == MAP_FAILED) throw UserError("cannot map {} into memory: {}", what, std::strerror(errno));
  return std::shared_ptr<const FileMap>(new FileMap(static_cast<const std::byte*>(data), size));
}

FileMap::~FileMap() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void FileMap::release(std::span<const std::byte> range) const {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(range.data()) + page - 1) / page * page;
  const auto end = (reinterpret_cast<uintptr_t>(range.data()) + range.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace attune
