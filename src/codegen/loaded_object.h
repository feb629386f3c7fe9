// Object code in memory, ready to be called. Needs no compiler: plans embed objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace attune {

/// One mapping with code, constants and data next to each other, so that relative addresses of 32 bits reach; no page
/// of it is ever writable and executable at once.
class LoadedObject {
 public:
  /// Throws UserError for objects that are damaged or need what is not provided: of external functions, only memcpy,
  /// memmove and memset (and, in a build with AddressSanitizer, its own).
  static std::shared_ptr<const LoadedObject> load(std::span<const std::byte> object);
  ~LoadedObject();
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;

  /// The address of a function that the object defines; throws UserError when there is none of that name.
  const void* function(std::string_view name) const;
  size_t size_bytes() const { return size_bytes_; }

 private:
  friend class ObjectLoader;
  LoadedObject() = default;

  std::byte* memory_ = nullptr;
  size_t size_bytes_ = 0;
  std::map<std::string, size_t, std::less<>> functions_;  // name → offset
};

}  // namespace attune
