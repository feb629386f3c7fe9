// attune tune: finds faster kernels and better fusions for a model, proves them and writes a plan that uses them.
#include "bank/device_fingerprint.h"
#include "bank/location.h"
#include "bank/merge.h"
#include "base/atomic_file.h"
#include "base/parallel.h"
#include "cli/interrupt.h"
#include "cli/tune_arguments.h"
#include "cli/tune_progress.h"
#include "cli/tune_report.h"
#include "cli/verbs.h"
#include "job/opat.h"
#include "job/result_folder.h"
#include "job/sgat.h"
#include "job/tune_all.h"
#include "job/tune_dumps.h"
#include "report/tuning_report.h"
#include "runtime/bank_advisor.h"
#include "runtime/load_session.h"
#include "runtime/plan_file.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

namespace attune::cli {
namespace {

namespace fs = std::filesystem;

/// What happens, as JSON lines.
class EventFile {
 public:
  explicit EventFile(const std::string& path) : to_stderr_(path == "-") {
    if (path.empty() || to_stderr_) return;
    file_.open(path, std::ios::trunc);
    if (!file_) throw UserError("cannot write events to '{}'", path);
  }
  void write(const nlohmann::ordered_json& event) {
    if (to_stderr_) write_stderr(event.dump() + "\n");
    if (file_.is_open()) file_ << event.dump() << std::endl;  // whoever follows the file sees it at once
  }

 private:
  bool to_stderr_;
  std::ofstream file_;
};

/// What a job would work on: the dump's operators, or the model's.
std::vector<TaskSearch> plan_tasks(const TuneArguments& arguments, const OpatOptions& options,
                                   const std::vector<TuningTask>& dumped) {
  if (!arguments.from_dump.empty()) return plan_opat(dumped, options);
  const Session session = load_session(arguments.model, options.session);
  return plan_opat(session, make_inputs(arguments.inputs, session.graph()), options);
}

/// The operators of a dump, or of the model.
void add_tasks(Report& report, const TuneArguments& arguments, const std::vector<TaskSearch>& searches) {
  uint64_t points = 0, tasks = 0;
  for (const TaskSearch& search : searches) {
    if (!search.has_alternatives()) continue;
    ++tasks;
    points += search.space_size();
  }
  // A trial is built, verified and timed in about a fifth of a second; more for large workloads.
  constexpr double kSecondsPerTrial = 0.2;
  const double budget_s = *arguments.settings.budget_s;
  const double estimate = std::min(budget_s, static_cast<double>(points) * kSecondsPerTrial + 10);
  add_tasks(report, searches);
  report.json["estimated_s"] = estimate;
  write_stderr(fmt::format("{} tasks with {} points; about {:.0f} s within a budget of {:.0f} s\n", tasks, points,
                           estimate, budget_s));
}

void add_subgraphs(Report& report, const TuneArguments& arguments, const SessionOptions& options) {
  const Session session(load_graph(arguments.model), options);
  const std::vector<Subgraph> subgraphs = plan_sgat(session, make_inputs(arguments.inputs, session.graph()));
  add_subgraphs(report, subgraphs);
  size_t candidates = 0;
  for (const Subgraph& subgraph : subgraphs) candidates += subgraph.candidates.size();
  write_stderr(fmt::format("{} subgraphs with {} candidates\n", subgraphs.size(), candidates));
}

ExitCode dry_run(const TuneArguments& arguments, const OpatOptions& options, const std::vector<TuningTask>& dumped) {
  const std::string& job = *arguments.settings.job;
  Report report;
  if (job != "sgat") add_tasks(report, arguments, plan_tasks(arguments, options, dumped));
  if (job != "opat") add_subgraphs(report, arguments, options.session);
  print(report, arguments.format);
  return ExitCode::ok;
}

void write_text(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.append(text);
  file.commit();
}

/// Adds what an earlier job measured to the bank, so that it is found there.
void recall_base(const std::string& folder, Bank& bank) {
  const fs::path records = fs::path(folder) / kRecordsFileName;
  if (!fs::exists(records))
    throw UserError("--base_result '{}' has no {}; give the folder that an earlier 'attune tune --output' wrote",
                    folder, kRecordsFileName);
  const auto earlier = open_bank_file(records);
  const Bank* const sources[] = {earlier.get()};
  merge_banks(bank, sources);
}

ExitCode finish(const TuningResult& result, const TuneArguments& arguments, const std::string& plan) {
  if (!arguments.output.empty()) {
    write_result_folder(result, arguments.output);
    write_text(fs::path(arguments.output) / "report.html", tuning_report_html(result));
  }
  print(result_report(result, plan), arguments.format);
  return result.end == JobEnd::interrupted ? ExitCode::interrupted : ExitCode::ok;
}

/// The operators of a dump, all of them checked. Sets the thread count of the process: records of one number do not
/// apply to another.
std::vector<TuningTask> read_dump(const TuneArguments& arguments, const SessionOptions& session) {
  if (arguments.from_dump.empty()) return {};
  const std::vector<OperatorDump> dumps = read_operator_dumps(arguments.from_dump);
  for (const OperatorDump& dump : dumps)
    if (arguments.runner.threads == 0 && dump.threads != dumps.front().threads)
      throw UserError("the dumps in '{}' are of {} and of {} threads; give --threads", arguments.from_dump,
                      dumps.front().threads, dump.threads);
  if (arguments.runner.threads == 0) set_thread_count(dumps.front().threads);
  if (dumps.front().device != device_text())
    write_stderr(fmt::format("the dump is of another device ({}); what is measured here applies here\n",
                             printable(dumps.front().device)));
  return dump_tasks(dumps, session);
}

/// Chooses a precision first, where that is asked for, on a share of the time; what is tuned then is the model in it.
std::optional<PrecisionOutcome> choose_first(const TuneArguments& arguments, OpatOptions& options) {
  if (precision_of(arguments.runner) != "auto") return std::nullopt;
  constexpr double kShare = 0.3, kLeastLeft = 0.1;  // of the budget
  const JobClock clock(*arguments.settings.budget_s, [] { return false; });
  PrecisionOutcome chosen = choose_precision(arguments.model, options.session, arguments.inputs, arguments.precision,
                                             kShare * *arguments.settings.budget_s);
  options.session = chosen.options;
  options.budget_s = std::max(clock.left_s(), kLeastLeft * *arguments.settings.budget_s);
  return chosen;
}

/// Other kernels round otherwise: what was tuned has to hold the accuracy budget itself, else what was chosen is kept.
void settle_precision(TuningOutcome& tuned, PrecisionOutcome& chosen, const TuneArguments& arguments) {
  TuningResult& result = tuned.result;
  if (!restate_precision(tuned.session, chosen)) {
    tuned.session = std::move(chosen.session);
    result.applied = false;
    result.after_plan = tuned.session.plan(make_inputs(arguments.inputs, tuned.session.graph()));
    result.after_step_ms = result.before_step_ms;
    result.conclusion = "with the kernels found the error exceeds the accuracy budget, so the default ones are kept";
  }
  result.precision = tuned.session.precision();
  result.conclusion += "; " + attune::to_text(*result.precision);
}

OpatOptions job_options(const TuneArguments& arguments) {
  OpatOptions options;
  options.budget_s = *arguments.settings.budget_s;
  options.most_trials = *arguments.settings.trials;
  options.algorithm = *arguments.settings.algorithm;
  options.metric = *arguments.settings.metric == "throughput" ? Metric::throughput : Metric::latency;
  options.session = session_options(arguments.runner);
  options.measurer.pin_workers = arguments.runner.pin;
  options.seed = arguments.inputs.seed + 1;
  return options;
}

/// Kernels that won before, so that subgraphs are judged with the kernels that they will have.
std::shared_ptr<const Advisor> bank_advisor(const TuneArguments& arguments) {
  return std::make_shared<const BankAdvisor>(open_bank(arguments.bank, BankAccess::read_only), thread_count());
}

TuningOutcome tune_model(const TuneArguments& arguments, OpatOptions options) {
  const auto inputs = [&](const Graph& graph) { return make_inputs(arguments.inputs, graph); };
  const std::string& job = *arguments.settings.job;
  if (job == "opat")
    return run_opat([&](const SessionOptions& session) { return load_session(arguments.model, session); }, inputs,
                    options);
  const Graph model = load_graph(arguments.model);
  if (job == "all")
    return run_all(
        model, inputs, [&] { return bank_advisor(arguments); }, options);
  options.session.advisor = bank_advisor(arguments);
  return run_sgat(model, inputs, options);
}

ExitCode run_tune(TuneArguments arguments) {
  settle(arguments);
  OpatOptions options = job_options(arguments);
  const std::vector<TuningTask> dumped = read_dump(arguments, options.session);
  if (arguments.dry_run) return dry_run(arguments, options, dumped);

  if (!arguments.output.empty()) prepare_result_folder(arguments.output);
  const auto bank = open_bank(arguments.bank, BankAccess::read_write);
  if (!arguments.base_result.empty()) recall_base(arguments.base_result, *bank);
  options.bank = bank.get();
  std::optional<PrecisionOutcome> chosen = choose_first(arguments, options);
  const InterruptScope interrupts;
  options.stop = [] { return InterruptScope::requested(); };
  EventFile events(arguments.events);
  if (chosen) events.write({{"event", "precision"}, {"t", 0}, {"precision", to_json(*chosen->session.precision())}});
  TuneProgress progress(options.budget_s);
  options.on_event = [&](const nlohmann::ordered_json& event) {
    events.write(event);
    progress.show(event);
  };
  if (!arguments.from_dump.empty()) {
    TuningResult result = tune_operators(dumped, options);
    progress.finish();
    result.model = arguments.from_dump;
    return finish(result, arguments, "");
  }
  TuningOutcome outcome = tune_model(arguments, options);
  progress.finish();
  outcome.result.model = arguments.model;
  if (chosen) settle_precision(outcome, *chosen, arguments);
  std::string plan = arguments.plan;
  if (plan.empty() && !arguments.output.empty()) plan = (fs::path(arguments.output) / kPlanFileName).string();
  if (!plan.empty()) save_plan(outcome.session, make_inputs(arguments.inputs, outcome.session.graph()), plan);
  return finish(outcome.result, arguments, plan);
}

}  // namespace

Action add_tune(CLI::App& verb) {
  auto arguments = std::make_shared<TuneArguments>();  // shared: CLI11 writes it, the action reads it
  add_tune_arguments(verb, *arguments);
  return [arguments] { return run_tune(*arguments); };
}

}  // namespace attune::cli
