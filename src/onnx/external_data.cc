#include "onnx/external_data.h"

#include "base/checked.h"
#include "base/error.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace attune::onnx_io {
namespace {

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

void refuse_unsafe_name(const std::string& location, const std::string& what) {
  const auto refuse = [&](const char* why) {
    throw UserError("{} names external data '{}', {}; only files inside the model's folder are read", what, location,
                    why);
  };
  if (location.empty()) throw UserError("{} is external but names no file", what);
  if (location.find('\0') != std::string::npos) refuse("which contains a NUL byte");
  if (location.find('\\') != std::string::npos) refuse("which contains a backslash");
  const std::filesystem::path path(location);
  if (path.is_absolute()) refuse("an absolute path");
  for (const auto& part : path)
    if (part == "..") refuse("which leaves the model's folder");
}

/// Opens without following any symbolic link, component by component: for kernels without openat2.
int open_without_links(int folder, const std::filesystem::path& path) {
  Descriptor current{::dup(folder)};
  for (auto part = path.begin(); part != path.end(); ++part) {
    if (part->empty() || *part == ".") continue;
    const bool last = std::next(part) == path.end();
    const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (last ? 0 : O_DIRECTORY);
    const int next = ::openat(current.fd, part->c_str(), flags);
    if (next < 0) return -1;
    ::close(current.fd);
    current.fd = next;
  }
  return std::exchange(current.fd, -1);
}

/// A link may point elsewhere inside the folder, never outside: the kernel checks it, so there is no race.
int open_beneath(int folder, const std::string& location) {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const long fd = ::syscall(SYS_openat2, folder, location.c_str(), &how, sizeof how);
  if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return static_cast<int>(fd);
  return open_without_links(folder, location);
}

}  // namespace

std::shared_ptr<const FileMap> ExternalFiles::open(const std::string& location, const std::string& what) {
  if (folder_.empty()) throw UserError("{} is external, but the model was not read from a file", what);
  refuse_unsafe_name(location, what);
  const auto known = files_.find(location);
  if (known != files_.end()) return known->second;

  const Descriptor folder{::open(folder_.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY)};
  if (folder.fd < 0) throw UserError("cannot open the model's folder '{}': {}", folder_.string(), std::strerror(errno));
  const int fd = open_beneath(folder.fd, location);
  if (fd < 0) {
    if (errno == EXDEV || errno == ELOOP)
      throw UserError("{} names external data '{}', a link that leaves the model's folder; copy the file there instead",
                      what, location);
    throw UserError("{} names external data '{}', which cannot be opened: {}", what, location, std::strerror(errno));
  }
  auto file = FileMap::from_descriptor(fd, "external data '" + location + "' of " + what);
  files_.emplace(location, file);
  return file;
}

std::span<const std::byte> ExternalFiles::resolve(const ExternalReference& reference, int64_t expected_bytes,
                                                  const std::string& what, std::shared_ptr<const FileMap>* owner) {
  const auto file = open(reference.location, what);
  const int64_t length = reference.length < 0 ? expected_bytes : reference.length;
  if (length != expected_bytes)
    throw UserError("{} needs {} bytes but its external data states {}", what, expected_bytes, length);
  const auto end = checked_add(reference.offset, length);
  if (reference.offset < 0 || !end || *end > static_cast<int64_t>(file->bytes().size()))
    throw UserError("{} reads bytes {} to {} of external data '{}', which has {}", what, reference.offset,
                    end ? std::to_string(*end) : "beyond 2^63", reference.location, file->bytes().size());
  *owner = file;
  return file->bytes().subspan(static_cast<size_t>(reference.offset), static_cast<size_t>(length));
}

}  // namespace attune::onnx_io
