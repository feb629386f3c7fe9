// Suggestions for misspelt names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace attune {

/// Fewest insertions, deletions, substitutions and swaps of neighbours that turn one word into the other.
int64_t edit_distance(std::string_view a, std::string_view b);

/// The choice that `word` most likely means, case and the separators '-', '_' and '.' ignored; the first of equally
/// near ones. Nothing when none is near enough to be worth suggesting.
std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> choices);

}  // namespace attune
