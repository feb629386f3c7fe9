#include "base/suggest.h"

#include <algorithm>
#include <string>
#include <vector>

namespace attune {
namespace {

/// What a user remembers of a name: "ResNet-50" and "resnet_50" read alike.
std::string simplified(std::string_view word) {
  std::string result;
  for (const char c : word) {
    if (c == '-' || c == '_' || c == '.') continue;
    result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

}  // namespace

int64_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the table of distances between prefixes; a swap looks two rows back.
  std::vector<int64_t> two_back(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = static_cast<int64_t>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<int64_t>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t substituted = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substituted});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], two_back[j - 2] + 1);
    }
    std::swap(two_back, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> choices) {
  const std::string wanted = simplified(word);
  std::optional<std::string_view> best;
  int64_t best_distance = 0;
  for (const std::string_view choice : choices) {
    const std::string offered = simplified(choice);
    const int64_t distance = edit_distance(wanted, offered);
    const auto longer = static_cast<int64_t>(std::max(wanted.size(), offered.size()));
    if (distance > std::max<int64_t>(1, longer / 2)) continue;  // more wrong than right
    if (!best || distance < best_distance) {
      best = choice;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace attune
