// Chooses the memory layouts of a model's convolutions by measured cost: the model runs in each layout as a whole, a
// minimal cut weighs what regions gain against the conversions between them, and runs of the model with that choice
// have to confirm it.
#pragma once

#include "job/compare_sessions.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace attune {

struct LayoutStageOptions {
  SessionOptions session;  // of the default session; its layout is automatic
  double seconds = 6;      // about, and what it takes to plan the model twice or thrice
  uint64_t seed = 1;
  std::function<bool()> stop = [] { return false; };
};

struct LayoutFindings {
  std::map<std::string, Layout, std::less<>> node_layouts;  // for SessionOptions; empty: the rule's choice is kept
  std::vector<std::pair<Layout, double>> uniform_ms;        // runs with all convolutions in one layout
  size_t convolutions = 0, moved = 0;                       // moved: to another layout than the rule's
  std::optional<SessionComparison> comparison;  // of the choice with the rule's; none where they are the same
  std::string conclusion;                       // one sentence for people
  bool from_bank = false;
};

/// Nothing where there is nothing to choose: fewer than two convolutions, or a layout that the user asked for.
std::optional<LayoutFindings> tune_layouts(const Session& before, std::span<const Tensor> inputs,
                                           const LayoutStageOptions& options);

}  // namespace attune
