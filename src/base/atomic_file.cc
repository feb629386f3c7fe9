#include "base/atomic_file.h"

#include "base/error.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace attune {
namespace fs = std::filesystem;

namespace {

/// The file that a chain of symbolic links means, so that writing goes through the link instead of replacing it.
fs::path resolve_links(const fs::path& path) {
  std::error_code ignored;
  const fs::path target = fs::weakly_canonical(path, ignored);
  return fs::is_symlink(path, ignored) && !target.empty() ? target : path;
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& path) : path_(resolve_links(path)) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path_, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw UserError("cannot write '{}': it exists and is not a regular file; give another path", path_.string());
  static std::atomic<int> counter{0};
  do {
    // The name stays short: the final one may use up what the file system allows.
    temporary_ = path_.parent_path() / fmt::format(".attune-{}-{}.tmp", getpid(), counter++);
    fd_ = open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ < 0) fail("create it");
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* action) const {
  throw UserError("cannot write '{}': failed to {}: {}; check the folder and the free space", path_.string(), action,
                  std::strerror(errno));
}

void AtomicFile::write_at(int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(fd_, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write to it");
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += written;
  }
}

void AtomicFile::append(std::span<const std::byte> bytes) {
  write_at(size_bytes_, bytes);
  size_bytes_ += static_cast<int64_t>(bytes.size());
}

void AtomicFile::overwrite(int64_t offset, std::span<const std::byte> bytes) {
  if (offset < 0 || offset + static_cast<int64_t>(bytes.size()) > size_bytes_)
    throw InternalError("overwriting bytes that were never written");
  write_at(offset, bytes);
}

void AtomicFile::commit() {
  if (fsync(fd_) != 0) fail("flush it");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail("name it");
  close(fd_);
  fd_ = -1;
}

}  // namespace attune
