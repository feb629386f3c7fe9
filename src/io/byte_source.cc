#include "io/byte_source.h"

#include "base/error.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace attune {

void MemorySource::read(std::span<std::byte> out) {
  if (out.size() > bytes_.size() - position_) throw UserError("{} is truncated; write it again", what_);
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + position_, out.size());
  position_ += out.size();
}

InputFile::InputFile(const std::filesystem::path& path) : name_(path.string()) {
  // O_NONBLOCK: opening a pipe must not wait for its writer before we refuse it.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) throw UserError("cannot read '{}': {}; check the path", name_, std::strerror(errno));
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(fd);
    throw UserError("'{}' is not a regular file; give the path of a file", name_);
  }
  fd_ = fd;
  size_bytes_ = status.st_size;
}

InputFile::~InputFile() { close(fd_); }

void InputFile::read_at(int64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = pread(fd_, out.data(), out.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw UserError("cannot read '{}': {}", name_, std::strerror(errno));
    if (got == 0) throw UserError("'{}' is truncated: it ends at byte {}; write it again", name_, offset);
    out = out.subspan(static_cast<size_t>(got));
    offset += got;
  }
}

void FileSource::read(std::span<std::byte> out) {
  file_.read_at(position_, out);
  position_ += static_cast<int64_t>(out.size());
}

}  // namespace attune
