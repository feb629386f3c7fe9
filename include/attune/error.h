// What attune throws. Messages are in words: what, where and the remedy.
#pragma once

#include <attune/export.h>

#include <stdexcept>
#include <string>

// The inline namespace is the version of the interface: programs write attune::Session, and a library with another one
// is refused when linking instead of failing later.
namespace attune {
inline namespace v1 {

/// Base of all exceptions of attune. std::bad_alloc may come too.
class ATTUNE_API Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message);
  ~Error() override;
};

/// Bad input or wrong use: a file that cannot be read, a tensor that does not fit, a memory limit that is too small.
class ATTUNE_API UserError : public Error {
 public:
  explicit UserError(const std::string& message);
  ~UserError() override;
};

/// A valid model or option that needs something attune does not have.
class ATTUNE_API UnsupportedError : public Error {
 public:
  explicit UnsupportedError(const std::string& message);
  ~UnsupportedError() override;
};

/// A bug in attune.
class ATTUNE_API InternalError : public Error {
 public:
  explicit InternalError(const std::string& message);
  ~InternalError() override;
};

}  // namespace v1
}  // namespace attune
