// A trial: one configuration, verified and timed beside the anchor, and what came of it.
#pragma once

#include "bank/outcome.h"
#include "kernel/config.h"

#include <string>
#include <string_view>
#include <vector>

namespace attune::tune {

/// What is to be tried: a provider's name and one of its configs.
struct Trial {
  std::string provider;
  Config config;
  auto operator<=>(const Trial&) const = default;
};

std::string to_text(const Trial& trial);  // "onednn {impl=brgconv:avx512_core}"

/// How far a trial came; its outcome says how it ended there.
enum class Stage : uint8_t { reference, build, verify, time };
std::string_view stage_name(Stage stage);

struct TrialResult {
  Outcome outcome = Outcome::infrastructure;
  Stage stage = Stage::reference;
  std::string message;  // why it is not ok, with the tail of what it wrote to stderr

  // One entry for each pair; empty unless it was timed.
  std::vector<double> log_ratios;    // ln(candidate / anchor): below 0 is faster than the anchor
  std::vector<double> candidate_ns;  // one call
  std::vector<double> anchor_ns;
  int disturbed_pairs = 0;  // of these, how many had the scheduler interfere; they are kept, not hidden

  double max_error = 0;    // against the reference, as a share of the output's largest magnitude
  double build_ms = 0;     // making the kernel, packing constants included
  double roofline_ns = 0;  // no kernel can be faster; 0: not known

  double log_ratio() const;  // median; 0 without pairs
  double time_ns() const;    // median; 0 without pairs
};

}  // namespace attune::tune
