// What became of a trial. A failure is a value of its own, never a large time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace attune {

/// `infrastructure` says nothing about the candidate: the machine, not the kernel, failed.
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

std::string_view outcome_name(Outcome outcome);
std::optional<Outcome> outcome_of_name(std::string_view name);
/// Every name, in the order of the enum.
std::span<const std::string_view> outcome_names();

}  // namespace attune
