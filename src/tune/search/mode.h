// Tuning modes as the seeds write them: NO_TUNE, RL, GA, or both.
#pragma once

#include <string_view>

namespace attune::tune {

struct TuneMode {
  bool uses_rl = false, uses_ga = false;
  bool is_off() const { return !uses_rl && !uses_ga; }
  bool operator==(const TuneMode&) const = default;
};

/// Cube operators are products and convolutions, vector operators all others.
enum class OperatorKind : unsigned char { cube, vector };

/// "NO_TUNE", "RL", "GA", "RL,GA" and "GA,RL", in any case. Throws UserError.
TuneMode parse_tune_mode(std::string_view text);

/// The search for an operator under a mode: GA is the default for cube operators and RL for vector ones; an operator
/// whose kind has no search in the mode is not tuned, which is an empty name.
std::string_view searcher_for(const TuneMode& mode, OperatorKind kind);

}  // namespace attune::tune
