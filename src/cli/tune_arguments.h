// The arguments of `attune tune`, in attune's spelling and in that of the `aoe` command.
#pragma once

#include "cli/input_arguments.h"
#include "cli/output.h"
#include "cli/precision_arguments.h"
#include "cli/runner_arguments.h"

#include <string>

namespace attune::cli {

struct TuneArguments {
  OutputFormat format = OutputFormat::table;
  std::string model;
  InputArguments inputs;
  RunnerArguments runner;
  PrecisionArguments precision;
  double budget_s = 60;
  int64_t trials = 0;
  std::string algorithm = "auto";
  std::string output;       // folder; empty: none is written
  std::string plan;         // file; empty: in the folder
  std::string bank;         // empty: the default one
  std::string from_dump;    // file or folder of dumps, in place of a model
  std::string base_result;  // folder of an earlier job
  std::string events;       // file of JSON lines
  bool dry_run = false;

  // As aoe spells them.
  std::string job = "opat";
  int job_type = 0;   // 1: opat
  int framework = 0;  // 5: ONNX
  std::string model_option;
  std::string input_shape;
  std::string soc_version;
  double tuning_time_limit = 0;
  std::string budget_text = "60s";
};

void add_tune_arguments(CLI::App& verb, TuneArguments& arguments);

/// Brings both spellings together; throws UserError where they contradict each other or ask for what is not there.
void settle(TuneArguments& arguments);

}  // namespace attune::cli
