// "Did you mean": the known word closest to an unknown one.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace attune {

/// The choice with the smallest edit distance to `word`, the earlier one on a tie; nothing when none is close enough to
/// be a misspelling.
std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> choices);

}  // namespace attune
