#include "base/atomic_file.h"

#include "base/error.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace attune {

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  if (path_.empty() || std::filesystem::is_directory(path_))
    throw UserError("cannot write '{}': not a file name", path_.string());
  std::string pattern = path_.string() + ".XXXXXX";
  descriptor_ = ::mkstemp(pattern.data());
  if (descriptor_ < 0) throw UserError("cannot write '{}': {}", path_.string(), std::strerror(errno));
  temporary_ = pattern;
  // mkstemp is private by design; the result should have the mode that any new file gets.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor_, 0666 & ~mask);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  size_ += static_cast<int64_t>(bytes.size());
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min<size_t>(bytes.size(), size_t{1} << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw UserError("cannot write '{}': {}", path_.string(), std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void AtomicFile::commit() {
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (closed != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0)
    throw UserError("cannot write '{}': {}", path_.string(), std::strerror(errno));
  temporary_.clear();
}

}  // namespace attune
