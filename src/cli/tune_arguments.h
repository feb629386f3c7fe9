// The arguments of `attune tune`, in attune's spelling and in that of the `aoe` command.
#pragma once

#include "cli/input_arguments.h"
#include "cli/output.h"
#include "cli/precision_arguments.h"
#include "cli/runner_arguments.h"
#include "cli/tune_settings.h"

#include <string>

namespace attune::cli {

struct TuneArguments {
  OutputFormat format = OutputFormat::table;
  std::string model;
  InputArguments inputs;
  RunnerArguments runner;
  PrecisionArguments precision;
  TuneSettings settings;    // complete after settle()
  std::string output;       // folder; empty: none is written
  std::string plan;         // file; empty: in the folder
  std::string bank;         // empty: the default one
  std::string from_dump;    // file or folder of dumps, in place of a model
  std::string base_result;  // folder of an earlier job
  std::string events;       // file of JSON lines
  bool dry_run = false;

  // Other ways to say the same.
  std::string config;    // file of settings
  std::string job_type;  // empty: not given
  int framework = 0;     // 5: ONNX
  std::string model_option;
  std::string input_shape;
  std::string soc_version;
  std::optional<double> tuning_time_limit;
  std::string budget_text;
};

void add_tune_arguments(CLI::App& verb, TuneArguments& arguments);

/// Brings both spellings together; throws UserError where they contradict each other or ask for what is not there.
void settle(TuneArguments& arguments);

}  // namespace attune::cli
