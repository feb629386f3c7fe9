#include "cli/precision_arguments.h"

#include "cli/interrupt.h"
#include "cli/parse_seconds.h"
#include "runtime/load_session.h"
#include "runtime/plan_file.h"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <unistd.h>

#include <cmath>

namespace attune::cli {
namespace {

constexpr const char* kDefaultBudget = "60s";

/// One line that is written over and over, where somebody watches.
class LiveLine {
 public:
  void show(const std::string& text) {
    if (!terminal_) return;
    write_stderr("\r" + text + std::string(width_ > text.size() ? width_ - text.size() : 0, ' '));
    width_ = text.size();
  }
  ~LiveLine() {
    if (width_ == 0) return;
    show("");
    write_stderr("\r");
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  size_t width_ = 0;
};

}  // namespace

void add_accuracy_budget(CLI::App& verb, PrecisionArguments& arguments) {
  verb.add_option("--accuracy-budget", arguments.accuracy_budget,
                  fmt::format("With --precision auto: the error allowed, as a share of an output's root mean square "
                              "(default: {})",
                              kDefaultAccuracyBudget));
}

void add_precision(CLI::App& verb, PrecisionArguments& arguments) {
  add_accuracy_budget(verb, arguments);
  verb.add_option("--budget", arguments.budget,
                  fmt::format("With --precision auto: wall-clock time to choose in, such as 60s or 5m (default: {})",
                              kDefaultBudget));
}

void check_precision(const RunnerArguments& runner, const PrecisionArguments& arguments) {
  const bool is_auto = precision_of(runner) == "auto";
  if (!is_auto && arguments.accuracy_budget)
    throw UserError("--accuracy-budget goes with --precision auto, which chooses within it");
  if (!is_auto && !arguments.budget.empty())
    throw UserError("--budget is the time that --precision auto chooses in, and goes with it");
  if (const double budget = arguments.accuracy_budget.value_or(1); !(budget > 0) || !std::isfinite(budget))
    throw UserError("--accuracy-budget '{}' is no error to allow; give a number above 0, such as 0.01", budget);
}

PrecisionOutcome choose_precision(const std::string& model, const SessionOptions& session, const InputArguments& inputs,
                                  const PrecisionArguments& arguments, double budget_s) {
  if (is_plan_file(model))
    throw UserError(
        "--precision auto cannot be asked of '{}': a plan keeps the precision it was made with; make one of the model "
        "with 'attune plan MODEL --precision auto'",
        model);
  PrecisionInputs chosen_on;
  const bool given = !inputs.inputs.empty() || !inputs.input.empty();
  chosen_on.origin = given ? InputOrigin::given : InputOrigin::random;
  chosen_on.seed = inputs.seed;
  chosen_on.make = [&](const Graph& graph, uint64_t seed) {
    InputArguments seeded = inputs;
    seeded.seed = seed;
    return make_inputs(seeded, graph);
  };
  const InterruptScope interrupts;
  PrecisionOptions options;
  options.accuracy_budget = arguments.accuracy_budget.value_or(kDefaultAccuracyBudget);
  options.budget_s = budget_s;
  options.stop = [] { return InterruptScope::requested(); };
  std::optional<LiveLine> line(std::in_place);
  options.on_progress = [&](const std::string& what) { line->show("precision: " + what); };
  PrecisionOutcome outcome = choose_precision(load_graph(model), session, chosen_on, options);
  line.reset();
  if (outcome.interrupted)
    throw Error(ExitCode::interrupted, "interrupted while a precision was being chosen; nothing is written");
  write_stderr(fmt::format("precision: {}\n", printable(attune::to_text(*outcome.session.precision()))));
  return outcome;
}

Session open_session(const std::string& model, const RunnerArguments& runner, const PrecisionArguments& arguments,
                     const InputArguments& inputs) {
  check_precision(runner, arguments);
  if (precision_of(runner) != "auto") return open_session(model, runner);
  const double budget_s = parse_seconds(arguments.budget.empty() ? kDefaultBudget : arguments.budget);
  return choose_precision(model, session_options_with_bank(runner), inputs, arguments, budget_s).session;
}

Table precision_table(const PrecisionStatement& statement) {
  Table table{"precision", {{"what"}, {"value"}}, {}};
  const auto row = [&](const char* what, std::string value) { table.rows.push_back({what, std::move(value)}); };
  row("precision", statement.precision);
  row("why", statement.reason);
  row("error", fmt::format("{:.3g}", statement.error));
  row("accuracy budget", fmt::format("{:.3g}", statement.budget));
  row("error is", statement.metric);
  row("products in bf16", fmt::format("{} of {}", statement.lowered, statement.products));
  row("operators in bf16", std::to_string(statement.operators));
  row("inputs", statement.inputs == InputOrigin::given
                    ? "given"
                    : fmt::format("random, seeds {}", fmt::join(statement.seeds, ", ")));
  if (!statement.new_seeds.empty())
    row("confirmed on", fmt::format("random, seeds {}", fmt::join(statement.new_seeds, ", ")));
  if (statement.lowered > 0)
    row("as fast as f32", fmt::format("{:.3f}x ({:.3f} to {:.3f})", statement.speedup, statement.speedup_interval.low,
                                      statement.speedup_interval.high));
  return table;
}

}  // namespace attune::cli
