// How a model is run: threads, providers, numeric mode, memory. Shared by the verbs that run models.
#pragma once

#include "runtime/session.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace attune::cli {

struct RunnerArguments {
  int threads = 0;                      // --threads; 0: the usable cores
  std::vector<std::string> providers;   // --provider; empty: all
  std::string mode = "high_precision";  // --mode
  std::vector<std::string> mode_ops;    // --mode-ops
  std::string precision, dtype;         // --precision, --dtype; see precision_of
  std::string layout = "auto";          // --layout
  std::string memory_limit;             // --memory-limit
  bool pin = false;                     // --pin
  bool rewrite = true;                  // --no-rewrite
  std::vector<std::string> without;     // --without-pass
  std::string bank;                     // --bank, of the verbs that have it
};

/// Adds --threads, --provider, --mode, --mode-ops, --precision, --dtype, --layout, --memory-limit, --pin, --no-rewrite
/// and
/// --without-pass.
void add_runner(CLI::App& verb, RunnerArguments& arguments);

/// Adds --bank: the verb uses what was measured.
void add_bank(CLI::App& verb, RunnerArguments& arguments);

/// "f32", "bf16" or "auto", whichever flag says so; throws UserError where they contradict each other.
std::string precision_of(const RunnerArguments& arguments);

/// The options of a session, in f32 where the precision is chosen later; sets the thread count of the process.
SessionOptions session_options(const RunnerArguments& arguments);
/// The same, with the bank that is asked for.
SessionOptions session_options_with_bank(const RunnerArguments& arguments);

/// Sets the thread count of the process and makes a session of a model file, a model of the zoo, or a saved plan.
/// Throws UserError for --precision auto, which precision_arguments.h is for.
Session open_session(const std::string& model, const RunnerArguments& arguments);

}  // namespace attune::cli
