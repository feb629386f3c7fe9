#include "cli/runner_arguments.h"

#include "bank/location.h"
#include "base/parallel.h"
#include "runtime/bank_advisor.h"
#include "runtime/load_session.h"

#include <CLI/CLI.hpp>

#include <cstdlib>

namespace attune::cli {
namespace {

/// "512M", "2G", "1000000": bytes, with binary multiples.
int64_t parse_bytes(const std::string& text) {
  size_t end = 0;
  double number = -1;
  try {
    number = std::stod(text, &end);
  } catch (const std::exception&) {}
  const std::string unit = number < 0 ? "" : text.substr(end);
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (!(number > 0) || number > 1e15 || shift < 0)
    throw UserError("--memory-limit '{}' is not a size such as 512M or 2G", text);
  return static_cast<int64_t>(number * static_cast<double>(int64_t{1} << shift));
}

LayoutChoice parse_layout(const std::string& text) {
  if (text == "nchw") return LayoutChoice::nchw;
  if (text == "nhwc") return LayoutChoice::nhwc;
  return text == "blocked" ? LayoutChoice::blocked : LayoutChoice::automatic;
}

}  // namespace

void add_runner(CLI::App& verb, RunnerArguments& arguments) {
  verb.add_option("--threads", arguments.threads, "Threads to run on (default: the usable cores)")
      ->check(CLI::Range(1, 4096));
  verb.add_option("--provider", arguments.providers,
                  "Source of kernels, in order of preference; may be repeated (default: all)");
  verb.add_option("--mode", arguments.mode, "Numeric mode: high_precision or high_performance")
      ->check(CLI::IsMember({"high_precision", "high_performance"}))
      ->capture_default_str();
  verb.add_option("--mode-ops", arguments.mode_ops,
                  "Operators that --mode is for, separated by commas; others are high_precision (default: all)")
      ->delimiter(',');
  verb.add_option("--precision", arguments.precision,
                  "Compute products of f32 values and what follows them in f32 (the default), in bf16, or, by auto, in "
                  "whichever is faster within an accuracy budget")
      ->check(CLI::IsMember({"f32", "bf16", "auto"}));
  verb.add_option("--dtype", arguments.dtype, "f32 or bf16, as for --precision")->check(CLI::IsMember({"f32", "bf16"}));
  verb.add_option("--layout", arguments.layout,
                  "Memory layout of convolutions and what lies between them, where providers have it: auto, nchw, nhwc "
                  "or blocked")
      ->check(CLI::IsMember({"auto", "nchw", "nhwc", "blocked"}))
      ->capture_default_str();
  verb.add_option("--memory-limit", arguments.memory_limit,
                  "Refuse when weights, activations and workspaces of a run need more, such as 512M");
  verb.add_flag("--pin", arguments.pin, "Keep each worker thread on a core of its own");
  verb.add_flag("!--no-rewrite", arguments.rewrite, "Run the graph as it is in the file, without fusing or folding");
  verb.add_option("--without-pass", arguments.without,
                  "A rewrite to leave out, such as fuse_epilogues; may be repeated");
}

void add_bank(CLI::App& verb, RunnerArguments& arguments) {
  verb.add_option("--bank", arguments.bank,
                  "File of a bank whose winners are used (default: that of TUNE_BANK_PATH where it is set, else none)");
}

std::string precision_of(const RunnerArguments& arguments) {
  if (arguments.precision.empty()) return arguments.dtype.empty() ? "f32" : arguments.dtype;
  if (!arguments.dtype.empty() && arguments.dtype != arguments.precision)
    throw UserError("--precision {} and --dtype {} contradict each other; leave one of them out", arguments.precision,
                    arguments.dtype);
  return arguments.precision;
}

SessionOptions session_options(const RunnerArguments& arguments) {
  if (arguments.threads > 0) set_thread_count(arguments.threads);
  SessionOptions options;
  options.providers = arguments.providers;
  options.mode = arguments.mode == "high_precision" ? NumericMode::high_precision : NumericMode::high_performance;
  options.mode_operators = arguments.mode_ops;
  if (!arguments.memory_limit.empty()) options.memory_limit_bytes = parse_bytes(arguments.memory_limit);
  options.layout = parse_layout(arguments.layout);
  options.pin_workers = arguments.pin;
  options.rewrite = arguments.rewrite;
  options.without_passes = arguments.without;
  const std::string precision = precision_of(arguments);
  if (precision != "f32" && !arguments.rewrite)
    throw UserError("--{} {} rewrites the graph and does not go with --no-rewrite",
                    arguments.precision.empty() ? "dtype" : "precision", precision);
  if (precision == "bf16") options.dtype = DType::bf16;
  return options;
}

SessionOptions session_options_with_bank(const RunnerArguments& arguments) {
  SessionOptions options = session_options(arguments);
  const bool by_variable = arguments.bank.empty() && std::getenv("TUNE_BANK_PATH") != nullptr;
  if (!arguments.bank.empty() || by_variable)
    options.advisor =
        std::make_shared<const BankAdvisor>(open_bank(arguments.bank, BankAccess::read_only), thread_count());
  return options;
}

Session open_session(const std::string& model, const RunnerArguments& arguments) {
  if (precision_of(arguments) == "auto")
    throw UserError(
        "--precision auto runs the model to choose, which this verb does not; write what is chosen with 'attune plan "
        "MODEL --precision auto' and look at the plan with 'attune why'");
  return load_session(model, session_options_with_bank(arguments));
}

}  // namespace attune::cli
