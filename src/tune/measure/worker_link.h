// Requests to a worker that is always there: started when needed, replaced when it died, with every way of dying as an
// outcome.
#pragma once

#include "tune/measure/measurer.h"
#include "tune/measure/messages.h"
#include "tune/measure/worker_process.h"

namespace attune::tune {

class WorkerLink {
 public:
  explicit WorkerLink(MeasurerOptions options);

  struct Answer {
    Reply reply;
    int entrant = 0;  // whose kernel ran last
    bool ok() const { return reply.outcome == Outcome::ok; }
  };

  /// The next request goes to a fresh worker.
  void replace_worker() { worker_.reset(); }
  /// Makes the task the worker's subject, unless it is.
  Answer set_subject(const MeasureTask& task);
  /// Starts on several at once, on all threads; each still has to be built, which is quick then. What fails here fails
  /// again when it is its turn, where it counts.
  void build_ahead(std::span<const InstanceId> ids);
  Answer build(const InstanceId& id) { return ask("build", id, options_.timeouts.build); }
  Answer verify(const InstanceId& id) { return ask("verify", id, options_.timeouts.verify); }
  Answer pairs(const PairsRequest& request) { return ask("pairs", request, options_.timeouts.time); }
  Answer rounds(const RoundsRequest& request) { return ask("rounds", request, options_.timeouts.time); }
  const CeilingRates& ceilings();
  /// Measures the ceilings once more, a few times at most, and keeps the better rates: whatever else ran during a
  /// measurement can only have lowered it. False where nothing changed.
  bool raise_ceilings();

  /// Builds and verifies; `stage` tells how far it came.
  Answer make_ready(const InstanceId& id, Stage& stage);

  const MeasurerOptions& options() const { return options_; }
  int64_t workers_started() const { return workers_started_; }
  uint64_t next_seed() { return seed_++; }

 private:
  void ensure_worker();
  bool measure_ceilings();  // whether any is higher than known before
  Answer ask(const char* what, const nlohmann::json& with, std::chrono::milliseconds timeout);

  MeasurerOptions options_;
  std::string program_;
  std::unique_ptr<WorkerProcess> worker_;
  std::string subject_;  // of the worker as it is now
  int64_t workers_started_ = 0;
  int ceilings_raised_ = 0;
  uint64_t seed_ = 1;
};

}  // namespace attune::tune
