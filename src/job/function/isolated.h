// Work of somebody else's in a process of its own, which may crash or hang.
#pragma once

#include "bank/outcome.h"

#include <chrono>
#include <functional>
#include <string>

namespace attune {

struct IsolatedResult {
  Outcome outcome = Outcome::ok;  // ok, crashed, timed_out, out_of_memory, or infrastructure where no process was had
  std::string message;
  std::string text;  // what the work returned
};

/// Forks: the work sees everything that is here and changes nothing of it. Threads do not come along, so work that
/// waits for some of this process (a pool of OpenMP that was used before) hangs until the timeout.
IsolatedResult run_isolated(const std::function<std::string()>& work, std::chrono::milliseconds timeout);

}  // namespace attune
