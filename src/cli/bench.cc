// attune bench: latency and throughput of a model, with intervals.
#include "base/parallel.h"
#include "base/statistics.h"
#include "cli/dump_request.h"
#include "cli/input_arguments.h"
#include "cli/model_argument.h"
#include "cli/output.h"
#include "cli/precision_arguments.h"
#include "cli/runner_arguments.h"
#include "cli/verbs.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <iostream>
#include <memory>

namespace attune::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kFewestRuns = 5;

struct BenchArguments {
  OutputFormat format = OutputFormat::table;
  std::string model;
  InputArguments inputs;
  RunnerArguments runner;
  PrecisionArguments precision;
  double seconds = 3;
  int warmup_runs = 3;
  bool paced = false;
};

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double timed_run(const Session& session, const std::vector<Tensor>& inputs) {
  const auto begin = Clock::now();
  session.run(inputs);
  return milliseconds_since(begin);
}

/// Another program sets the pace, so that it can interleave us with others: each line it writes is a number of runs,
/// each line we answer a JSON list of their times.
ExitCode run_paced(const Session& session, const std::vector<Tensor>& inputs) {
  write_stdout("ready\n");
  int64_t runs = 0;
  while (std::cin >> runs) {
    nlohmann::json times = nlohmann::json::array();
    for (int64_t i = 0; i < runs; ++i) times.push_back(timed_run(session, inputs));
    write_stdout(times.dump() + "\n");
  }
  return ExitCode::ok;
}

ExitCode run_bench(const BenchArguments& arguments) {
  const auto load_begin = Clock::now();
  const Session session = open_session(arguments.model, arguments.runner, arguments.precision, arguments.inputs);
  const std::vector<Tensor> inputs = make_inputs(arguments.inputs, session.graph());
  const auto plan = session.plan(inputs);
  const double load_ms = milliseconds_since(load_begin);
  dump_on_request(*plan, arguments.model);
  for (int i = 0; i < arguments.warmup_runs; ++i) session.run(inputs);
  if (arguments.paced) return run_paced(session, inputs);

  std::vector<double> samples;
  const auto begin = Clock::now();
  while (milliseconds_since(begin) < arguments.seconds * 1000 || static_cast<int>(samples.size()) < kFewestRuns) {
    samples.push_back(timed_run(session, inputs));
  }
  const SampleSummary summary = summarize_samples(samples);
  const int64_t batch = inputs.empty() || inputs[0].rank() == 0 ? 1 : inputs[0].dim(0);
  const double per_second = static_cast<double>(batch) * 1000 / summary.median;

  Report report;
  Table table{"", {{"what"}, {"value", Align::right}}, {}};
  const auto row = [&](const char* what, const std::string& value) { table.rows.push_back({what, value}); };
  row("median latency", fmt::format("{:.3f} ms", summary.median));
  row("  95 % interval", fmt::format("{:.3f} to {:.3f} ms", summary.median_interval.low, summary.median_interval.high));
  row("p5 / p95", fmt::format("{:.3f} / {:.3f} ms", summary.p5, summary.p95));
  row("mean", fmt::format("{:.3f} ms", summary.mean));
  row("throughput", fmt::format("{:.1f} items/s (batch {})", per_second, batch));
  row("runs", std::to_string(summary.count));
  row("steps", std::to_string(plan->steps.size()));
  row("activations", fmt::format("{:.1f} MB", static_cast<double>(plan->arena_bytes) / 1e6));
  row("weights", fmt::format("{:.1f} MB", static_cast<double>(plan->constant_bytes()) / 1e6));
  row("load and plan", fmt::format("{:.1f} ms", load_ms));
  row("threads", std::to_string(thread_count()));
  if (session.precision()) row("precision", session.precision()->precision);
  report.tables.push_back(std::move(table));
  report.json = {{"model", arguments.model},
                 {"latency_ms",
                  {{"median", summary.median},
                   {"p5", summary.p5},
                   {"p95", summary.p95},
                   {"mean", summary.mean},
                   {"median_low", summary.median_interval.low},
                   {"median_high", summary.median_interval.high}}},
                 {"throughput_per_s", per_second},
                 {"batch", batch},
                 {"runs", summary.count},
                 {"steps", plan->steps.size()},
                 {"arena_bytes", plan->arena_bytes},
                 {"weight_bytes", plan->constant_bytes()},
                 {"load_ms", load_ms},
                 {"threads", thread_count()}};
  if (session.precision()) report.json["precision"] = to_json(*session.precision());
  print(report, arguments.format);
  return ExitCode::ok;
}

}  // namespace

Action add_bench(CLI::App& verb) {
  auto arguments = std::make_shared<BenchArguments>();  // shared: CLI11 writes it, the action reads it
  verb.add_option("model", arguments->model, kModelOrPlanHelp)->required();
  add_inputs(verb, arguments->inputs);
  verb.add_option("--seconds", arguments->seconds, "How long to measure")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  verb.add_option("--warmup", arguments->warmup_runs, "Runs before measuring")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  verb.add_flag("--paced", arguments->paced,
                "Read numbers of runs from standard input and answer each with their times, as bench/peers does");
  add_runner(verb, arguments->runner);
  add_precision(verb, arguments->precision);
  add_bank(verb, arguments->runner);
  add_format(verb, arguments->format);
  return [arguments] { return run_bench(*arguments); };
}

}  // namespace attune::cli
