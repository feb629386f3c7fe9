#include "providers/native/recurrent_shares.h"

#include "base/error.h"
#include "base/parallel.h"

#include <charconv>

namespace attune::native {
namespace {

/// Threads for each of so many directions at a time.
int most_threads(const RecurrentShape& shape, int64_t directions) {
  return static_cast<int>(std::clamp<int64_t>(thread_count() / directions, 1, shape.shared_parts()));
}

}  // namespace

std::vector<Config> share_configs(const RecurrentShape& shape, int64_t weight_bytes) {
  // Threads that share a direction meet after each step, which costs a good part of a microsecond: worth it when a step
  // reads at least this much of the weights.
  constexpr int64_t kWorthSharing = 256 << 10;
  std::vector<Config> configs{{{"threads", "1"}}};
  const int together = most_threads(shape, shape.directions), in_turn = most_threads(shape, 1);
  if (together > 1)
    configs.insert(weight_bytes >= kWorthSharing ? configs.begin() : configs.end(),
                   {{"threads", std::to_string(together)}});
  // In turn, each thread has fewer weights to find in its cache, and meets the others twice as often. With 1 MiB of
  // weights in each direction and as much of L2 that was 0.96 to 1.02x of the speed, so it is left to measuring.
  if (shape.directions > 1 && in_turn > together)
    configs.push_back({{"threads", std::to_string(in_turn)}, {"directions", "in_turn"}});
  return configs;
}

ThreadShares thread_shares(const Config& config, const RecurrentShape& shape) {
  ThreadShares shares;
  const auto threads = config.find("threads"), directions = config.find("directions");
  shares.threads = 0;
  if (threads != config.end())
    std::from_chars(threads->second.data(), threads->second.data() + threads->second.size(), shares.threads);
  shares.in_turn = directions != config.end() && directions->second == "in_turn";
  if (shares.threads < 1 || shares.threads > shape.shared_parts() ||
      (directions != config.end() && directions->second != "together" && !shares.in_turn))
    throw UserError(
        "'{}' does not configure a recurrent layer; expected threads=1 to {} for each direction, and "
        "directions=together or in_turn",
        to_text(config), shape.shared_parts());
  return shares;
}

}  // namespace attune::native
