// What a tuning job is told on the command line, in a file such as sgat_config.json, or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace attune::cli {

struct TuneSettings {
  std::optional<std::string> job;  // opat, sgat or all
  std::optional<double> budget_s;
  std::optional<int64_t> trials;
  std::optional<std::string> algorithm;
  std::optional<std::string> metric;

  /// What is not given here is taken from there.
  void complete_with(const TuneSettings& other);
};

/// A JSON object with job_type, tuning_time_limit, max_tuning_count, search_algorithm and target_metric, any of which
/// may be left out; comments are skipped. Throws UserError for anything else.
TuneSettings read_tune_settings(const std::string& path);

/// The job that aoe has this number or word for: 1 or "operator", 2 or "subgraph"; attune's own names are understood
/// too. Throws UserError.
std::string job_of_type(const std::string& type);

}  // namespace attune::cli
