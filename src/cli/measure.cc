// attune measure: every kernel that the providers have for a workload, verified and compared with the default.
#include "base/parallel.h"
#include "cli/input_arguments.h"
#include "cli/model_argument.h"
#include "cli/output.h"
#include "cli/runner_arguments.h"
#include "cli/verbs.h"
#include "cli/workload_argument.h"
#include "job/step_contents.h"
#include "providers/providers.h"
#include "runtime/kernel_choice.h"
#include "tune/measure/measurer.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <set>

namespace attune::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;
using tune::Trial;

constexpr size_t kFinalists = 8;

struct MeasureArguments {
  OutputFormat format = OutputFormat::table;
  std::string what;
  std::string op, node;
  double seconds = 10;
  bool hot = false;
  InputArguments inputs;
  RunnerArguments runner;
};

/// A workload with its default and everything else that there is for it.
struct Job {
  tune::MeasureTask task;
  Trial default_trial;
  std::vector<Trial> candidates;
};

std::vector<Trial> other_trials(const std::vector<Alternative>& alternatives, const Trial& default_trial) {
  std::vector<Trial> trials;
  for (const Alternative& alternative : alternatives)
    for (const Config& config : alternative.configs)
      if (Trial trial{alternative.provider, config}; trial != default_trial) trials.push_back(std::move(trial));
  return trials;
}

Job job_of_text(const MeasureArguments& arguments) {
  Job job;
  job.task = stated_task(arguments.what);
  std::vector<const Provider*> wanted;
  for (const std::string& name : arguments.runner.providers) wanted.push_back(&require_provider(name));
  if (wanted.empty()) wanted.assign(providers().begin(), providers().end());
  const KernelChoice choice = choose_kernel(job.task.workload, wanted);
  if (choice.provider == nullptr) {
    std::string reasons;
    for (const Alternative& alternative : choice.alternatives)
      reasons += fmt::format("\n  {}: {}", alternative.provider, alternative.reason);
    throw UserError("no provider has a kernel for '{}':{}", job.task.workload.key(), reasons);
  }
  job.default_trial = {std::string(choice.provider->name()), choice.config};
  job.candidates = other_trials(choice.alternatives, job.default_trial);
  return job;
}

std::vector<Job> jobs_of_model(const MeasureArguments& arguments) {
  const Session session = open_session(arguments.what, arguments.runner);
  const auto plan = session.plan(make_inputs(arguments.inputs, session.graph()));
  std::vector<Job> jobs;
  std::set<std::string> seen;
  for (const Step& step : plan->steps) {
    if (!step.kernel || (!arguments.op.empty() && step.workload.op != arguments.op) ||
        (!arguments.node.empty() && step.label != arguments.node) || !seen.insert(step.workload.key()).second)
      continue;
    Job job;
    job.task = {step.workload, step_contents(*plan, step)};
    job.default_trial = {step.provider, step.config};
    job.candidates = other_trials(step.alternatives, job.default_trial);
    jobs.push_back(std::move(job));
  }
  if (jobs.empty())
    throw UserError("no step of '{}' has this operator or name; 'attune why {}' shows them", arguments.what,
                    arguments.what);
  return jobs;
}

/// The right ones, best first, as many as the finals take.
std::vector<size_t> best_of(const std::vector<tune::TrialResult>& results) {
  std::vector<size_t> order;
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].outcome == Outcome::ok) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](size_t i) { return results[i].log_ratio(); });
  order.resize(std::min(order.size(), kFinalists));
  return order;
}

struct Row {
  Trial trial;
  tune::TrialResult result;
  std::optional<tune::Judgement> judgement;  // of the finals
  double time_ns = 0;
};

std::string ratio_text(const Row& row) {
  if (row.result.outcome != Outcome::ok) return "";
  if (!row.judgement) return fmt::format("{:.3f}", std::exp(row.result.log_ratio()));
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", std::exp(row.judgement->log_ratio),
                     std::exp(row.judgement->log_interval.low), std::exp(row.judgement->log_interval.high));
}

std::string verdict_text(const Row& row) {
  if (row.result.outcome != Outcome::ok) return "";
  return row.judgement ? std::string(verdict_name(row.judgement->verdict)) : "out of the finals";
}

std::string share_text(const Row& row) {
  if (row.time_ns <= 0 || row.result.roofline_ns <= 0) return "";
  return fmt::format("{:.0f} %", 100 * row.result.roofline_ns / row.time_ns);
}

Json row_json(const Row& row) {
  Json json = {{"provider", row.trial.provider},
               {"config", row.trial.config},
               {"outcome", outcome_name(row.result.outcome)},
               {"stage", stage_name(row.result.stage)},
               {"message", row.result.message},
               {"pairs", row.result.log_ratios.size()},
               {"time_ns", row.time_ns},
               {"roofline_ns", row.result.roofline_ns},
               {"max_error", row.result.max_error},
               {"build_ms", row.result.build_ms}};
  if (row.result.outcome != Outcome::ok) return json;
  json["ratio"] = std::exp(row.judgement ? row.judgement->log_ratio : row.result.log_ratio());
  if (!row.judgement) return json;
  json["verdict"] = verdict_name(row.judgement->verdict);
  json["ratio_low"] = std::exp(row.judgement->log_interval.low);
  json["ratio_high"] = std::exp(row.judgement->log_interval.high);
  return json;
}

std::vector<Row> measure_job(tune::Measurer& measurer, const Job& job, double seconds, Json& json) {
  const auto begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  tune::MeasureControl control;
  control.should_stop = [&] { return elapsed() > 0.6 * seconds; };
  const tune::Measurement measured = measurer.measure(job.task, job.default_trial, job.candidates, {}, control);
  std::vector<Row> rows = {{job.default_trial, measured.anchor, std::nullopt, measured.anchor.time_ns()}};
  for (size_t i = 0; i < measured.trials.size(); ++i)
    rows.push_back({job.candidates[i], measured.trials[i], std::nullopt, measured.trials[i].time_ns()});
  json["not_tried"] = job.candidates.size() - measured.trials.size();
  if (measured.anchor.outcome != Outcome::ok) return rows;

  const std::vector<size_t> best = best_of(measured.trials);
  std::vector<Trial> finalists;
  for (const size_t i : best) finalists.push_back(job.candidates[i]);
  tune::FinalsOptions options;
  options.budget = std::chrono::milliseconds(std::llround(1000 * std::max(0.2 * seconds, seconds - elapsed())));
  const tune::Finals finals = measurer.finals(job.task, job.default_trial, finalists, options);
  if (!finals.problem.empty()) throw UserError("{}", finals.problem);
  rows[0].time_ns = finals.default_ns;
  for (size_t i = 0; i < best.size(); ++i) {
    Row& row = rows[best[i] + 1];
    if (finals.finalists[i].outcome != Outcome::ok) {
      row.result.outcome = finals.finalists[i].outcome;
      row.result.message = finals.finalists[i].message;
      continue;
    }
    row.judgement = finals.finalists[i].judgement;
    row.time_ns = finals.finalists[i].time_ns;
  }
  json["rounds"] = finals.rounds;
  json["disturbed_rounds"] = finals.disturbed_rounds;
  json["noise_floor"] = finals.noise_floor;
  json["duplicate_verdict"] = verdict_name(finals.duplicate.verdict);
  return rows;
}

void add_job(tune::Measurer& measurer, const Job& job, double seconds, OutputFormat format, Report& report) {
  Json json = {{"workload", job.task.workload.key()}};
  const std::vector<Row> rows = measure_job(measurer, job, seconds, json);
  Table table{job.task.workload.key(),
              {{"provider"},
               {"config"},
               {"verdict"},
               {"ratio to the default"},
               {"time µs", Align::right},
               {"of roofline", Align::right},
               {"error", Align::right},
               {"outcome"}},
              {}};
  json["results"] = Json::array();
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const bool ok = row.result.outcome == Outcome::ok;
    table.rows.push_back({row.trial.provider, attune::to_text(row.trial.config), i == 0 ? "default" : verdict_text(row),
                          i == 0 ? "1" : ratio_text(row),
                          row.time_ns > 0 ? fmt::format("{:.2f}", row.time_ns / 1000) : "", share_text(row),
                          ok ? fmt::format("{:.1e}", row.result.max_error) : "",
                          ok ? "ok" : fmt::format("{}: {}", outcome_name(row.result.outcome), row.result.message)});
    json["results"].push_back(row_json(row));
    json["results"].back()["default"] = i == 0;
  }
  report.json["workloads"].push_back(std::move(json));
  if (format != OutputFormat::csv) {
    report.tables.push_back(std::move(table));
    return;
  }
  // Programs want one table of all workloads.
  if (report.tables.empty()) {
    report.tables.push_back({"", table.columns, {}});
    report.tables[0].columns.insert(report.tables[0].columns.begin(), Column{"workload"});
  }
  for (auto& row : table.rows) {
    row.insert(row.begin(), table.title);
    report.tables[0].rows.push_back(std::move(row));
  }
}

ExitCode run_measure(const MeasureArguments& arguments) {
  if (arguments.runner.threads > 0) set_thread_count(arguments.runner.threads);
  std::vector<Job> jobs;
  if (is_workload(arguments.what)) {
    if (!arguments.op.empty() || !arguments.node.empty())
      throw UserError("--op and --node choose among the steps of a model; leave them out for a single workload");
    jobs.push_back(job_of_text(arguments));
  } else {
    jobs = jobs_of_model(arguments);
  }
  tune::MeasurerOptions options;
  options.pin_workers = arguments.runner.pin;
  options.cold_weights = !arguments.hot;
  tune::Measurer measurer(options);
  Report report;
  report.json = {{"threads", thread_count()}, {"cache", arguments.hot ? "hot" : "cold_weights"}};
  report.json["workloads"] = Json::array();
  for (const Job& job : jobs) add_job(measurer, job, arguments.seconds, arguments.format, report);
  const tune::MeasurerCounts counts = measurer.counts();
  const double floor = measurer.noise_floor().value_or(0);
  report.json["noise_floor"] = floor;
  report.json["trials"] = counts.trials;
  report.json["failed_trials"] = counts.failed_trials;
  report.json["workers_started"] = counts.workers_started;
  print(report, arguments.format);
  write_stderr(fmt::format("{} trials, {} failed, {} worker processes; identical code seemed to differ by {:.2f} %\n",
                           counts.trials, counts.failed_trials, counts.workers_started, 100 * std::expm1(floor)));
  return ExitCode::ok;
}

}  // namespace

Action add_measure(CLI::App& verb) {
  auto arguments = std::make_shared<MeasureArguments>();  // shared: CLI11 writes it, the action reads it
  verb.add_option(
          "what", arguments->what,
          "Workload as 'attune why --format json' prints it, such as 'Relu@14(f32[1x64]) -> (f32[1x64]) {}', or "
          "a model, of which every workload is measured")
      ->required();
  verb.add_option("--op", arguments->op, "Of a model: only workloads of this operator, such as FusedConv");
  verb.add_option("--node", arguments->node, "Of a model: only the step of this name");
  verb.add_option("--seconds", arguments->seconds, "Time for each workload; what is left untried then is counted")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  verb.add_flag(
      "--hot", arguments->hot,
      "Leave constants in the caches from call to call; otherwise they come from beyond the second level, as in "
      "a model");
  add_inputs(verb, arguments->inputs);
  add_runner(verb, arguments->runner);
  add_format(verb, arguments->format);
  return [arguments] { return run_measure(*arguments); };
}

}  // namespace attune::cli
