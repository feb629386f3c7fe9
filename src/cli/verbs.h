// The verbs of the command line, in one explicit list. A verb is added with
//   1. one file src/cli/<verb>.cc that defines `Action add_<verb>(CLI::App& verb)`, named in src/cli/CMakeLists.txt;
//   2. its declaration below and its line in verbs.cc, in the order in which `attune --help` shows it.
// A verb parses, calls and prints; whatever it computes lives in another room.
#pragma once

#include "base/error.h"

#include <functional>
#include <span>

namespace CLI {
class App;
}

namespace attune::cli {

/// What a verb does after its flags were parsed. It reports failure by throwing; it returns a code other than ok only
/// when its output is complete and states a verdict, such as a failed comparison.
using Action = std::function<ExitCode()>;

struct Verb {
  const char* name;
  const char* group;    // heading in --help
  const char* summary;  // one line in --help
  /// Declares the flags on `verb`. Flags outlive the call inside the action: keep them in a shared struct.
  Action (*add)(CLI::App& verb);
};

std::span<const Verb> verbs();

Action add_run(CLI::App& verb);
Action add_bench(CLI::App& verb);
Action add_why(CLI::App& verb);
Action add_kernel(CLI::App& verb);
Action add_measure(CLI::App& verb);
Action add_plan(CLI::App& verb);
Action add_tune(CLI::App& verb);
Action add_dump(CLI::App& verb);
Action add_inspect(CLI::App& verb);
Action add_zoo(CLI::App& verb);
Action add_bank(CLI::App& verb);
Action add_doctor(CLI::App& verb);

}  // namespace attune::cli
