// The folder that a tuning job leaves behind, in the form that users of AOE know:
//
//   summary.json                            what was gained, in a few numbers
//   op_tuning/<Op>_<dtype>.json             per operator: before, after, what was tried
//   subgraph_tuning/<pass>.json             per subgraph: what was fused, what was tried, what it gained
//   profiling/before_tuning/op_summary.csv  the time of each step, and after_tuning
//   tune_result_<time>_pid<pid>.json        every trial
//   records.jsonl                           the same as records of a bank: what --base_result reads
//   tuned.plan                              ready to run
//   report.html                             one page for people (src/report)
#pragma once

#include "job/tuning_result.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>

namespace attune {

inline constexpr const char* kPlanFileName = "tuned.plan";
inline constexpr const char* kRecordsFileName = "records.jsonl";

nlohmann::ordered_json summary_json(const TuningResult& result);

/// Writes everything but the plan, which is the session's to save. Each file appears whole.
void write_result_folder(const TuningResult& result, const std::filesystem::path& folder);

/// Throws UserError when the folder cannot be written to; changes nothing but creating it.
void prepare_result_folder(const std::filesystem::path& folder);

}  // namespace attune
