// What a measurer asks of its worker and what the worker answers. Requests carry data only: a workload as text, names
// of providers, configs. Building and timing are different requests, so that nothing is ever compiled while something
// is timed.
#pragma once

#include "tune/measure/ladder.h"
#include "tune/measure/trial.h"

#include <nlohmann/json.hpp>

namespace attune {

inline void to_json(nlohmann::json& json, Outcome outcome) { json = outcome_name(outcome); }
inline void from_json(const nlohmann::json& json, Outcome& outcome) {
  outcome = outcome_of_name(json.get<std::string>()).value();
}

}  // namespace attune

namespace attune::tune {

inline constexpr int kProtocol = 1;

/// The first message, from the worker.
struct Hello {
  int protocol = kProtocol;
  std::string environment;  // providers and their environments, which have to be the measurer's own
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Hello, protocol, environment)

/// How the worker runs everything from here on.
struct PrepareRequest {
  int threads = 1;
  bool pin_workers = false;
  int64_t memory_limit_bytes = 0;  // of address space beyond what is in use now; 0: none
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PrepareRequest, threads, pin_workers, memory_limit_bytes)

/// The workload of all requests that follow: the worker makes inputs and computes the reference.
struct SubjectRequest {
  std::string workload;  // as parse_workload_case reads it
  uint64_t seed = 0;
  bool cold_weights = true;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SubjectRequest, workload, seed, cold_weights)

/// A kernel in the worker. Copies of one trial are built apart from each other.
struct InstanceId {
  std::string provider;
  Config config;
  int copy = 0;
  auto operator<=>(const InstanceId&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(InstanceId, provider, config, copy)

struct BuildAheadRequest {
  std::vector<InstanceId> ids;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BuildAheadRequest, ids)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Rung, pairs, within)

struct PairsRequest {
  InstanceId anchor, candidate;
  std::vector<Rung> rungs;
  double abort_ratio = 0;
  double best_log_ratio = 0;
  double min_sample_us = 0;
  uint64_t seed = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PairsRequest, anchor, candidate, rungs, abort_ratio, best_log_ratio, min_sample_us,
                                   seed)

struct RoundsRequest {
  std::vector<InstanceId> entrants;
  int rounds = 0;
  double min_sample_us = 0;
  uint64_t seed = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RoundsRequest, entrants, rounds, min_sample_us, seed)

/// The answer to any request; fields that the request does not speak of stay as they are here.
struct Reply {
  Outcome outcome = Outcome::ok;
  std::string message;
  bool replace_worker = false;  // the trial left its process in a state in which nothing else should be measured
  double elapsed_ms = 0;        // of the request, as the worker sees it
  double max_error = 0;
  std::vector<std::vector<double>> times_ns;  // pairs: candidate's and anchor's; rounds: each entrant's
  std::vector<int> disturbed;                 // by pair or round: 1 where the scheduler took a thread away
  std::vector<std::string> ceiling_ids;
  std::vector<double> ceilings;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Reply, outcome, message, replace_worker, elapsed_ms, max_error, times_ns, disturbed,
                                   ceiling_ids, ceilings)

}  // namespace attune::tune
