// A pass rewrites a graph into an equal one that runs faster. One function behind one header; pipeline.cc lists them
// all.
#pragma once

#include "rewrite/place.h"

#include <functional>
#include <set>
#include <string>

namespace attune::rewrite {

/// Names of nodes that a pass leaves as they are, though it could change them: a change that is right everywhere need
/// not pay everywhere.
using LeftAlone = std::set<std::string, std::less<>>;

/// Names of anchors that a pass fuses, though it leaves others alone: a change that pays in few places.
struct AskedFor {
  std::set<std::string, std::less<>> names;
};

/// What one run of a pass did.
struct PassChanges {
  int count = 0;
  Places places;  // of passes that fuse: where they did, or could
};

/// What a pass does. Passes whose places can be chosen one by one take the nodes to leave alone; the others change all
/// there is or, switched off, nothing. Those that fuse tell where they did, the others how many places they changed.
/// Passes that fuse on request take the nodes to fuse, and tell of all places where they could.
/// All leave the graph well formed: verify() holds after every pass.
class Pass {
 public:
  using Plain = int (*)(Graph& graph);
  using Choosy = int (*)(Graph& graph, const LeftAlone& left_alone);
  using Fusing = Places (*)(Graph& graph, const LeftAlone& left_alone);
  using OnRequest = Places (*)(Graph& graph, const AskedFor& asked_for);

  constexpr Pass(Plain plain) : plain_(plain) {}      // NOLINT(google-explicit-constructor): a list of functions
  constexpr Pass(Choosy choosy) : choosy_(choosy) {}  // NOLINT(google-explicit-constructor)
  constexpr Pass(Fusing fusing) : fusing_(fusing) {}  // NOLINT(google-explicit-constructor)

  constexpr Pass(OnRequest on_request) : on_request_(on_request) {}  // NOLINT(google-explicit-constructor)

  constexpr bool is_choosy() const { return choosy_ != nullptr || fusing_ != nullptr; }
  constexpr bool is_on_request() const { return on_request_ != nullptr; }
  PassChanges operator()(Graph& graph, const LeftAlone& left_alone = {}, const AskedFor& asked_for = {}) const {
    if (plain_ != nullptr) return {plain_(graph), {}};
    if (choosy_ != nullptr) return {choosy_(graph, left_alone), {}};
    PassChanges changes;
    changes.places = fusing_ ? fusing_(graph, left_alone) : on_request_(graph, asked_for);
    for (const Place& place : changes.places) {
      if (!place.is_fused) continue;
      changes.count += place.is_chain ? static_cast<int>(place.parts.size()) : 1;
    }
    return changes;
  }

 private:
  Plain plain_ = nullptr;
  Choosy choosy_ = nullptr;
  Fusing fusing_ = nullptr;
  OnRequest on_request_ = nullptr;
};

}  // namespace attune::rewrite
