// What `attune tune` prints: what would be tuned, and what came of it.
#pragma once

#include "cli/output.h"
#include "job/subgraph.h"
#include "job/tuning_result.h"

namespace attune::cli {

/// Of --dry-run: the tasks with their spaces, and the subgraphs with their candidates.
void add_tasks(Report& report, const std::vector<TaskSearch>& searches);
void add_subgraphs(Report& report, const std::vector<Subgraph>& subgraphs);

/// `plan` is the file that was written; empty: none.
Report result_report(const TuningResult& result, const std::string& plan);

}  // namespace attune::cli
