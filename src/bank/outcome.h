// How a trial of one configuration ended. An outcome is a value: failures are recorded like results, so that nobody
// tries them again.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace attune {

enum class Outcome : uint8_t {
  ok,
  refused,
  compile_failed,
  wrong,
  implausible,
  crashed,
  timed_out,
  out_of_memory,
  infrastructure
};

inline constexpr std::string_view kOutcomeNames[] = {"ok",        "refused",       "compile_failed",
                                                     "wrong",     "implausible",   "crashed",
                                                     "timed_out", "out_of_memory", "infrastructure"};

inline std::string_view outcome_name(Outcome outcome) { return kOutcomeNames[static_cast<size_t>(outcome)]; }

inline std::optional<Outcome> parse_outcome(std::string_view name) {
  for (size_t i = 0; i < std::size(kOutcomeNames); ++i)
    if (kOutcomeNames[i] == name) return static_cast<Outcome>(i);
  return std::nullopt;
}

}  // namespace attune
