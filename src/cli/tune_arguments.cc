#include "cli/tune_arguments.h"

#include "base/error.h"
#include "cli/model_argument.h"
#include "cli/parse_seconds.h"
#include "device/cpu/cpu_info.h"
#include "job/sgat.h"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>

namespace attune::cli {
namespace {

/// "x:1,3,224,224;label:1", aoe's way, in ours: "x:1x3x224x224,label:1".
std::string translate_shapes(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == ',' ? 'x' : c == ';' ? ',' : c;
  return result;
}

void require_this_machine(const std::string& soc) {
  const std::string& here = cpu_info().brand;
  if (soc.empty() || soc == "host" || soc == here) return;
  throw UserError(
      "--soc_version '{}' is not this machine ('{}'); kernels are measured on the machine they are for: tune "
      "there, or leave it out",
      soc, here);
}

/// A dump says what is tuned, and there is no model to make a plan of.
void require_no_model(const TuneArguments& arguments) {
  const InputArguments& inputs = arguments.inputs;
  const char* given = !arguments.model.empty()                                   ? "a model"
                      : !arguments.plan.empty()                                  ? "--plan"
                      : !inputs.shapes.empty() || !arguments.input_shape.empty() ? "shapes"
                      : !inputs.inputs.empty() || !inputs.input.empty()          ? "inputs"
                                                                                 : nullptr;
  if (given != nullptr)
    throw UserError("--from-dump '{}' and {} do not go together; leave one of them out", arguments.from_dump, given);
}

/// The command line, then the file, then the defaults.
void settle_settings(TuneArguments& arguments) {
  TuneSettings& settings = arguments.settings;
  if (!arguments.job_type.empty()) {
    const std::string job = job_of_type(arguments.job_type);
    if (settings.job && *settings.job != job)
      throw UserError("--job {} and --job_type {} contradict each other", *settings.job, arguments.job_type);
    settings.job = job;
  }
  if (arguments.tuning_time_limit)
    settings.budget_s = arguments.tuning_time_limit;
  else if (!arguments.budget_text.empty())
    settings.budget_s = parse_seconds(arguments.budget_text);
  if (!arguments.config.empty()) settings.complete_with(read_tune_settings(arguments.config));
  constexpr double kBudget = 60;
  settings.complete_with({"opat", kBudget, 0, "auto", "latency"});
  if (!arguments.from_dump.empty() && settings.job != "opat")
    throw UserError("--from-dump has operators of no model, so there is nothing to fuse; --job opat tunes them");
  constexpr std::string_view kMetrics[] = {"latency", "throughput"};
  if (std::ranges::find(kMetrics, *settings.metric) == std::end(kMetrics))
    throw UserError("there is no target metric '{}'; there are {}", *settings.metric, fmt::join(kMetrics, ", "));
  partition_algorithm(*settings.algorithm);  // throws for what is neither a search nor a mode
}

}  // namespace

void add_tune_arguments(CLI::App& verb, TuneArguments& arguments) {
  verb.add_option("model", arguments.model, kModelHelp);
  TuneSettings& settings = arguments.settings;
  verb.add_option("--job", settings.job,
                  "What to tune: opat (the kernel of every operator, the default), sgat (which operators are fused) or "
                  "all")
      ->check(CLI::IsMember({"opat", "sgat", "all"}));
  verb.add_option("--budget", arguments.budget_text,
                  "Wall-clock time for everything, such as 60s, 5m or 1h (default: 60s)");
  verb.add_option("--trials,--max_tuning_count", settings.trials,
                  "Most kernels, or ways to fuse, to measure (default: as many as the budget allows)")
      ->check(CLI::Range(int64_t{1}, int64_t{1000000000}));
  verb.add_option("--search,--search_algorithm", settings.algorithm,
                  "Search for spaces that are too large to try whole: exhaustive, random, genetic, rl, bayesian, tpe, "
                  "gp, model, auto (the default), or a mode: NO_TUNE, RL, GA, RL,GA");
  verb.add_option("--target_metric,--metric", settings.metric,
                  "What has to become better: latency (of the median run, the default) or throughput (runs a second)");
  verb.add_option("--config", arguments.config,
                  "JSON file with job_type, tuning_time_limit, max_tuning_count, search_algorithm and target_metric; "
                  "flags come first");
  verb.add_option("-o,--output", arguments.output, "Folder for summary, trials, profiles, records and the plan");
  verb.add_option("--plan", arguments.plan, "Plan file to write (default: tuned.plan in the folder)");
  verb.add_option("--bank", arguments.bank, "File of the bank (default: TUNE_BANK_PATH, else the user's data folder)");
  verb.add_option("--from-dump", arguments.from_dump,
                  "In place of a model: a file of operators that 'attune dump' wrote, or a folder of them");
  verb.add_option("--base_result,--base-result", arguments.base_result,
                  "Folder of an earlier job: what it measured is not measured again");
  verb.add_option("--events", arguments.events, "File to write what happens to as JSON lines, '-' for standard error");
  verb.add_flag("--dry-run", arguments.dry_run,
                "Show what would be tuned and tried, and measure nothing but the model");
  verb.add_option("--framework", arguments.framework, "As aoe has it: 5, ONNX")->check(CLI::IsMember({5}));
  verb.add_option("--model", arguments.model_option, "The model, as aoe spells it");
  verb.add_option("--job_type", arguments.job_type, "As aoe has it: 1, opat, or 2, sgat");
  verb.add_option("--input_shape", arguments.input_shape, "Shapes as aoe spells them: \"x:1,3,224,224;y:1\"");
  verb.add_option("--soc_version", arguments.soc_version, "The device, which has to be this machine ('host')");
  verb.add_option("--tuning_time_limit", arguments.tuning_time_limit, "The budget in seconds, as aoe spells it")
      ->check(CLI::Range(1.0, 30 * 24 * 3600.0));
  add_inputs(verb, arguments.inputs);
  add_runner(verb, arguments.runner);
  add_accuracy_budget(verb, arguments.precision);
  add_format(verb, arguments.format);
}

void settle(TuneArguments& arguments) {
  if (!arguments.model_option.empty()) {
    if (!arguments.model.empty())
      throw UserError("the model is given twice: '{}' and --model '{}'", arguments.model, arguments.model_option);
    arguments.model = arguments.model_option;
  }
  if (!arguments.from_dump.empty()) require_no_model(arguments);
  check_precision(arguments.runner, arguments.precision);
  const bool chooses = precision_of(arguments.runner) == "auto";
  if (chooses && !arguments.from_dump.empty())
    throw UserError("--precision auto chooses by the outputs of a model, and --from-dump has none");
  if (chooses && arguments.dry_run) throw UserError("--precision auto measures, and --dry-run does not; leave one out");
  if (arguments.model.empty() && arguments.from_dump.empty())
    throw UserError("no model is given; 'attune tune MODEL', --model=MODEL or --from-dump=DIR");
  settle_settings(arguments);
  require_this_machine(arguments.soc_version);
  if (!arguments.input_shape.empty()) {
    if (!arguments.inputs.shapes.empty()) throw UserError("shapes are given twice: --shapes and --input_shape");
    arguments.inputs.shapes = translate_shapes(arguments.input_shape);
  }
}

}  // namespace attune::cli
