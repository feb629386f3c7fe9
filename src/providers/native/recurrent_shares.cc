#include "providers/native/recurrent_shares.h"

#include "base/error.h"

#include <charconv>

namespace attune::native {

std::vector<Config> share_configs(const RecurrentShape& shape, int64_t weight_bytes) {
  std::vector<Config> configs{{{"threads", "1"}}};
  const int together = most_sharing_threads(shape.directions, shape.shared_parts());
  const int in_turn = most_sharing_threads(1, shape.shared_parts());
  if (together > 1)
    configs.insert(sharing_pays(weight_bytes) ? configs.begin() : configs.end(),
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
