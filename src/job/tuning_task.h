// What a tuning job works on: the workloads of a planned model, equal ones merged, with the time they take in it.
#pragma once

#include "kernel/parse_workload.h"
#include "runtime/session.h"

#include <span>
#include <string>
#include <vector>

namespace attune {

struct TuningTask {
  Workload workload;
  std::vector<Contents> contents;  // what its inputs hold; empty: all made up
  std::string key;                 // of the workload
  std::string op;                  // "Conv", "attune::FusedConv"
  std::vector<std::string> nodes;  // whose work it is
  std::string provider;            // what runs it now
  Config config;
  double run_ms = 0;  // of all its nodes together, in one run of the model
  double ms_per_call() const { return nodes.empty() ? 0 : run_ms / static_cast<double>(nodes.size()); }
};

/// Runs the model a few times and gathers its steps, those that take the most time first. Steps without a kernel of
/// their own (control flow, shapes that the data decide) are left out.
std::vector<TuningTask> extract_tasks(const Session& session, std::span<const Tensor> inputs);

/// The same of a plan whose steps take these times.
std::vector<TuningTask> extract_tasks(const Plan& plan, std::span<const double> step_ms);

/// The median time of each step of the plan over a few runs, in milliseconds.
std::vector<double> time_steps(const Session& session, std::span<const Tensor> inputs);
/// Of the times of runs, each a list by step.
std::vector<double> median_steps(const std::vector<std::vector<double>>& runs);

}  // namespace attune
