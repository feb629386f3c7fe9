#include "providers/native/native_provider.h"

#include "providers/native/attention.h"
#include "providers/native/cell_loops.h"
#include "providers/native/channel_shuffle.h"
#include "providers/native/depth_to_space.h"
#include "providers/native/recurrent.h"
#include "providers/native/split.h"
#include "providers/native/squeeze_excite.h"
#include "providers/recurrent_layer.h"

#include <algorithm>

namespace attune {
namespace {

/// Kernels that have nothing to configure.
struct Fixed {
  bool (*serves)(const Workload& workload);
  std::variant<Offer, Refusal> (*offer)(const Workload& workload);
  std::unique_ptr<Kernel> (*build)(const Workload& workload);
};
constexpr Fixed kFixed[] = {
    {native::is_channel_shuffle, native::offer_channel_shuffle, native::build_channel_shuffle},
    {native::is_split, native::offer_split, native::build_split},
    {native::is_depth_to_space, native::offer_depth_to_space, native::build_depth_to_space},
    {native::is_squeeze_excite, native::offer_squeeze_excite, native::build_squeeze_excite},
};

const Fixed* find_fixed(const Workload& workload) {
  const auto* found = std::ranges::find_if(kFixed, [&](const Fixed& one) { return one.serves(workload); });
  return found == std::end(kFixed) ? nullptr : found;
}

}  // namespace

std::string NativeProvider::environment() const { return fmt::format("loops {}", native::cell_loops().name); }

std::variant<Offer, Refusal> NativeProvider::offer(const Workload& workload) const {
  if (const Fixed* fixed = find_fixed(workload)) return fixed->offer(workload);
  if (native::is_attention(workload)) return native::offer_attention(workload);
  if (!is_recurrent(workload)) return refuse("there is no native kernel for operator '{}'", workload.op);
  return native::offer_recurrent(workload);
}

std::unique_ptr<Kernel> NativeProvider::build(const Workload& workload, const Config& config) const {
  if (const Fixed* fixed = find_fixed(workload)) {
    const auto answer = fixed->offer(workload);
    if (const auto* refusal = std::get_if<Refusal>(&answer)) throw UserError("{}", refusal->reason);
    if (!config.empty()) throw UserError("'{}' configures nothing of {}", to_text(config), workload.key());
    return fixed->build(workload);
  }
  if (native::is_attention(workload)) return native::build_attention(workload, config);
  if (!is_recurrent(workload)) throw UserError("there is no native kernel for {}", workload.key());
  return native::build_recurrent(workload, config);
}

}  // namespace attune
