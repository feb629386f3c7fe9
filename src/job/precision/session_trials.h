// A model in f32 and with some of its regions in bf16, as sessions.
#pragma once

#include "job/precision/precision_search.h"
#include "rewrite/bf16_regions.h"
#include "runtime/session.h"

#include <optional>

namespace attune {

/// Inputs, and what the model makes of them in f32.
struct KnownOutputs {
  std::vector<Tensor> inputs, outputs;
};

/// The largest error over all of them.
double error_on(const Session& session, std::span<const KnownOutputs> known);

/// What a choice of precision is made on.
struct PrecisionInputs {
  InputOrigin origin = InputOrigin::random;
  uint64_t seed = 0;  // of random ones; others follow from it
  std::function<std::vector<Tensor>(const Graph& graph, uint64_t seed)> make;
};

using CompareSessions = std::function<SessionComparison(const Session& before, const Session& after,
                                                        std::span<const Tensor> inputs, const CompareOptions& options)>;

class SessionTrials final : public PrecisionTrials {
 public:
  /// The options are those of the f32 session.
  SessionTrials(Graph graph, SessionOptions options, PrecisionInputs inputs, CompareSessions compare,
                std::function<bool()> stop);

  size_t region_count() const override { return regions_.size(); }
  double error(const Lowered& lowered, InputChoice inputs) override;
  double new_error(const Lowered& lowered) override;
  LoweredRuns compare(const Lowered& lowered, double seconds) override;

  /// Opens the model with these regions lowered, whether or not it was rewritten already.
  SessionOptions options_for(const Lowered& lowered) const;
  const std::vector<rewrite::Bf16Region>& regions() const { return regions_; }
  /// The session that the last question was about, or the one in f32; the trials are over with that.
  Session take_session(const Lowered& lowered);
  const std::vector<uint64_t>& seeds() const { return seeds_; }
  const std::vector<uint64_t>& new_seeds() const { return new_seeds_; }
  /// The inputs that the choice was made on and the last new ones.
  std::vector<KnownOutputs> known() const;

 private:
  const Session& session(const Lowered& lowered);
  KnownOutputs make_known(uint64_t seed) const;
  std::vector<double> region_ms(const Plan& plan, const std::vector<double>& step_ms) const;

  Graph graph_;  // as it is when use_bf16 comes to it
  SessionOptions options_;
  PrecisionInputs inputs_;
  CompareSessions compare_;
  std::function<bool()> stop_;
  std::vector<rewrite::Bf16Region> regions_;
  std::optional<Session> f32_;
  std::vector<uint64_t> seeds_, new_seeds_;
  std::vector<KnownOutputs> known_, new_known_;
  Lowered made_;  // what made_session_ has lowered
  std::optional<Session> made_session_;
  uint64_t comparisons_ = 0;
};

}  // namespace attune
