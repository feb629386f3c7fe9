// attune kernel: the generated kernel of a workload, its text, instructions and parameters, and one configuration tried
// by hand.
#include "base/parallel.h"
#include "cli/input_arguments.h"
#include "cli/model_argument.h"
#include "cli/output.h"
#include "cli/runner_arguments.h"
#include "cli/verbs.h"
#include "cli/workload_argument.h"
#include "codegen/build_object.h"
#include "codegen/compiler_module.h"
#include "job/step_contents.h"
#include "providers/generated/generated_provider.h"
#include "providers/providers.h"
#include "runtime/kernel_choice.h"
#include "tune/measure/measurer.h"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <memory>

namespace attune::cli {
namespace {

using Json = nlohmann::ordered_json;

enum class Show { trial, source, assembly, config };

struct KernelArguments {
  OutputFormat format = OutputFormat::table;
  std::string what, node;
  Show show = Show::trial;
  std::vector<std::string> settings;  // key=value
  InputArguments inputs;
  RunnerArguments runner;
};

tune::MeasureTask find_task(const KernelArguments& arguments) {
  if (is_workload(arguments.what)) {
    if (!arguments.node.empty()) throw UserError("--node chooses a step of a model; leave it out for a workload");
    return stated_task(arguments.what);
  }
  if (arguments.node.empty())
    throw UserError("name a step of the model with --node; 'attune why {}' lists them", arguments.what);
  const Session session = open_session(arguments.what, arguments.runner);
  const auto plan = session.plan(make_inputs(arguments.inputs, session.graph()));
  for (const Step& step : plan->steps)
    if (step.label == arguments.node && step.kernel) return {step.workload, step_contents(*plan, step)};
  throw UserError("no step is named '{}'; it may be folded or fused into another (run 'attune why {}' for all)",
                  arguments.node, arguments.what);
}

/// What --set says, over the first offer of the generator that it names, or of the first one.
Config chosen_config(const GeneratedProvider& provider, const Workload& workload,
                     const std::vector<std::string>& settings) {
  Config changes;
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      throw UserError("--set takes PARAMETER=VALUE, got '{}'; '--show config' lists the parameters", setting);
    changes[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  const auto answer = provider.offer(workload);
  if (const auto* refusal = std::get_if<Refusal>(&answer)) throw UserError("{}", refusal->reason);
  const auto& offered = std::get<Offer>(answer).configs;
  Config config = offered.front();
  if (const auto named = changes.find("generator"); named != changes.end())
    for (const Config& other : offered)
      if (other.at("generator") == named->second) {
        config = other;
        break;
      }
  for (const auto& [name, value] : changes) config[name] = value;
  if (const std::string problem = provider.space(workload).why_invalid(config); !problem.empty())
    throw UserError("'{}' is not possible: {}", attune::to_text(config), problem);
  return config;
}

void show_config(const GeneratedProvider& provider, const Workload& workload, const Config& config,
                 OutputFormat format) {
  const Space space = provider.space(workload);
  Report report;
  Table table{
      fmt::format("{}: {} configurations", workload.key(), space.size()), {{"parameter"}, {"value"}, {"of"}}, {}};
  report.json = {{"workload", workload.key()}, {"configurations", space.size()}, {"parameters", Json::array()}};
  for (const auto& parameter : space.parameters()) {
    const auto value = config.find(parameter->name);
    const std::string text = value == config.end() ? "" : value->second;
    table.rows.push_back({parameter->name, text, fmt::format("{}", fmt::join(parameter->texts, " "))});
    report.json["parameters"].push_back({{"name", parameter->name}, {"value", text}, {"values", parameter->texts}});
  }
  report.tables.push_back(std::move(table));
  print(report, format);
}

/// Verified and timed in a process of its own, beside the kernel that planning would take.
ExitCode try_config(const tune::MeasureTask& task, const Config& config, const KernelArguments& arguments) {
  const Workload& workload = task.workload;
  std::vector<const Provider*> wanted;
  for (const std::string& name : arguments.runner.providers) wanted.push_back(&require_provider(name));
  if (wanted.empty()) wanted.assign(providers().begin(), providers().end());
  const KernelChoice choice = choose_kernel(workload, wanted);
  if (choice.provider == nullptr) throw UserError("no provider has a kernel for {}", workload.key());
  const tune::Trial usual{std::string(choice.provider->name()), choice.config};
  const tune::Trial candidate{"generated", config};
  tune::MeasurerOptions options;
  options.pin_workers = arguments.runner.pin;
  tune::Measurer measurer(options);
  const tune::Measurement measured = measurer.measure(task, usual, std::span(&candidate, 1));
  if (measured.trials.empty())
    throw UserError("the default of {} failed, so there is nothing to compare with: {}", workload.key(),
                    measured.anchor.message);
  const tune::TrialResult& result = measured.trials.front();
  const bool right = result.outcome == Outcome::ok;
  const double share = result.time_ns() > 0 ? tune::reachable_ns(workload, measurer.ceilings()) / result.time_ns() : 0;
  Report report;
  report.tables.push_back({workload.key(), {{"what"}, {"value"}}, {}});
  auto& rows = report.tables.front().rows;
  rows.push_back({"config", attune::to_text(config)});
  rows.push_back({"result", right ? fmt::format("right, error {:.1e} of the largest output", result.max_error)
                                  : fmt::format("{}: {}", outcome_name(result.outcome), result.message)});
  report.json = {{"workload", workload.key()},
                 {"config", config},
                 {"outcome", outcome_name(result.outcome)},
                 {"message", result.message},
                 {"max_error", result.max_error},
                 {"build_ms", result.build_ms}};
  if (right) {
    rows.push_back({"time", fmt::format("{:.2f} µs", result.time_ns() / 1000)});
    rows.push_back({"of peak", fmt::format("{:.0f} % of what memory and arithmetic allow", 100 * share)});
    rows.push_back({"against", tune::to_text(usual)});
    rows.push_back({"its time", fmt::format("{:.2f} µs", measured.anchor.time_ns() / 1000)});
    rows.push_back({"ratio", fmt::format("{:.3f} of the time, in {} pairs", std::exp(result.log_ratio()),
                                         result.log_ratios.size())});
    report.json.update({{"time_ns", result.time_ns()},
                        {"share_of_peak", share},
                        {"default", tune::to_text(usual)},
                        {"default_ns", measured.anchor.time_ns()},
                        {"ratio", std::exp(result.log_ratio())}});
  }
  print(report, arguments.format);
  return right ? ExitCode::ok : ExitCode::accuracy;
}

ExitCode run_kernel(const KernelArguments& arguments) {
  if (arguments.runner.threads > 0) set_thread_count(arguments.runner.threads);
  const tune::MeasureTask task = find_task(arguments);
  const Workload& workload = task.workload;
  const GeneratedProvider provider;
  const Config config = chosen_config(provider, workload, arguments.settings);
  if (arguments.show == Show::trial) return try_config(task, config, arguments);
  if (arguments.show == Show::config) {
    show_config(provider, workload, config, arguments.format);
    return ExitCode::ok;
  }
  const GeneratedSource source = provider.generate(workload, config).source;
  if (arguments.show == Show::source) {
    write_stdout(source.text);
    return ExitCode::ok;
  }
  const Compiler* compiler = find_compiler().compiler;
  if (compiler == nullptr) throw UserError("{}", find_compiler().problem);
  const AssemblyText assembly = compiler->assembly(source, host_compile_options());
  if (!assembly.ok()) throw UserError("the kernel does not compile: {}", assembly.error);
  write_stdout(assembly.text);
  return ExitCode::ok;
}

}  // namespace

Action add_kernel(CLI::App& verb) {
  auto arguments = std::make_shared<KernelArguments>();  // shared: CLI11 writes it, the action reads it
  verb.add_option("what", arguments->what,
                  "Model, or a workload as 'attune why --format json' prints it, such as "
                  "'Relu@14(f32[1x64]) -> (f32[1x64]) {}'")
      ->required();
  verb.add_option("--node", arguments->node, "Of a model: the step of this name");
  const std::map<std::string, Show> shows{{"source", Show::source}, {"asm", Show::assembly}, {"config", Show::config}};
  verb.add_option("--show", arguments->show,
                  "source: the generated text; asm: its instructions; config: its parameters and their values. "
                  "Without it the configuration is checked and timed")
      ->transform(CLI::CheckedTransformer(shows).description(""))
      ->option_text("source|asm|config");
  verb.add_option("--set", arguments->settings, "Other values than the default's, such as unroll=4")
      ->option_text("PARAMETER=VALUE ...");
  add_inputs(verb, arguments->inputs);
  add_runner(verb, arguments->runner);
  add_format(verb, arguments->format);
  return [arguments] { return run_kernel(*arguments); };
}

}  // namespace attune::cli
