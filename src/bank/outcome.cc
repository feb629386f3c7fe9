#include "bank/outcome.h"

#include <algorithm>

namespace attune {
namespace {

constexpr std::string_view kNames[] = {"ok",      "refused",   "compile_failed", "wrong",         "implausible",
                                       "crashed", "timed_out", "out_of_memory",  "infrastructure"};
static_assert(std::size(kNames) == static_cast<size_t>(Outcome::infrastructure) + 1);

}  // namespace

std::string_view outcome_name(Outcome outcome) { return kNames[static_cast<size_t>(outcome)]; }

std::optional<Outcome> outcome_of_name(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<Outcome>(found - std::begin(kNames));
}

std::span<const std::string_view> outcome_names() { return kNames; }

}  // namespace attune
