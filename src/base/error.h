// The exceptions that end a command. Each carries the exit code of the CLI; what a search survives is a value, not an
// exception.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace attune {

enum class ExitCode : int {
  ok = 0,
  internal = 1,
  usage = 2,        // wrong flags or bad input
  unsupported = 3,  // a valid model that needs what attune does not have
  accuracy = 4,
  regression = 5,
  no_candidate = 6,
  device = 7,  // device or library missing
  interrupted = 130,
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// Bad input or wrong use. Messages: lower case, what + where + remedy.
class UserError : public Error {
 public:
  template <class... Args> explicit UserError(fmt::format_string<Args...> text, Args&&... args)
      : Error(ExitCode::usage, fmt::format(text, std::forward<Args>(args)...)) {}
};

/// The input is valid but needs something that attune does not support.
class UnsupportedError : public Error {
 public:
  template <class... Args> explicit UnsupportedError(fmt::format_string<Args...> text, Args&&... args)
      : Error(ExitCode::unsupported, fmt::format(text, std::forward<Args>(args)...)) {}
};

/// A broken invariant of ours: always a bug in attune.
class InternalError : public Error {
 public:
  template <class... Args> explicit InternalError(fmt::format_string<Args...> text, Args&&... args)
      : Error(ExitCode::internal, fmt::format(text, std::forward<Args>(args)...)) {}
};

}  // namespace attune
