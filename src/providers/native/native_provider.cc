#include "providers/native/native_provider.h"

#include "providers/native/attention.h"
#include "providers/native/channel_moves.h"
#include "providers/native/lstm.h"
#include "providers/native/lstm_loops.h"

namespace attune {
namespace {

bool is_lstm(const Workload& workload) { return workload.domain.empty() && workload.op == "LSTM"; }

}  // namespace

std::string NativeProvider::environment() const { return fmt::format("loops {}", native::lstm_loops().name); }

std::variant<Offer, Refusal> NativeProvider::offer(const Workload& workload) const {
  if (native::moves_channels(workload)) return native::offer_channel_moves(workload);
  if (native::is_attention(workload)) return native::offer_attention(workload);
  if (!is_lstm(workload)) return refuse("there is no native kernel for operator '{}'", workload.op);
  return native::offer_lstm(workload);
}

std::unique_ptr<Kernel> NativeProvider::build(const Workload& workload, const Config& config) const {
  if (native::moves_channels(workload)) {
    const auto answer = native::offer_channel_moves(workload);
    if (const auto* refusal = std::get_if<Refusal>(&answer)) throw UserError("{}", refusal->reason);
    if (!config.empty()) throw UserError("'{}' configures nothing of {}", to_text(config), workload.key());
    return native::build_channel_moves(workload);
  }
  if (native::is_attention(workload)) return native::build_attention(workload, config);
  if (!is_lstm(workload)) throw UserError("there is no native kernel for {}", workload.key());
  return native::build_lstm(workload, config);
}

}  // namespace attune
