// Ctrl-C as a request: what is under way ends and saves instead of being cut off.
#pragma once

namespace attune::cli {

/// While this lives, SIGINT and SIGTERM only set a flag; a second one ends the process at once.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  static bool requested();
};

}  // namespace attune::cli
