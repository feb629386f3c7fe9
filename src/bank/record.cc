#include "bank/record.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

constexpr size_t kMostMessageBytes = 1 << 20;
constexpr size_t kMostSamples = 1 << 20;

bool is_positive(double value) { return std::isfinite(value) && value > 0; }
/// Also refuses -0.0, which a column of SQLite does not keep.
bool is_size(double value) { return !std::isnan(value) && !std::signbit(value); }

bool is_plain_text(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

bool is_verified(const Record& record) {
  return record.outcome == Outcome::ok && record.ratio && record.max_error && *record.max_error <= record.tolerance;
}

std::optional<std::string> find_flaw(const Record& record) {
  for (const auto& [name, text] : {std::pair{"device", &record.key.device},
                                   {"workload", &record.key.workload},
                                   {"mode", &record.key.mode},
                                   {"provider", &record.provider}})
    if (text->empty()) return fmt::format("'{}' is empty", name);
  if (record.key.threads < 1) return fmt::format("{} threads", record.key.threads);
  for (const auto& [name, value] : record.config)
    if (!is_plain_text(name) || !is_plain_text(value)) return "a configuration that is not plain text";
  if (!std::ranges::all_of(record.samples_ns, is_positive)) return "a sample is not a time";
  if (record.samples_ns.size() > kMostSamples) return fmt::format("{} samples", record.samples_ns.size());
  if (record.outcome == Outcome::ok && record.samples_ns.empty()) return "outcome ok without samples";
  if (record.ratio) {
    const Ratio& ratio = *record.ratio;
    if (!is_positive(ratio.low) || !is_positive(ratio.value) || !is_positive(ratio.high) || ratio.low > ratio.value ||
        ratio.value > ratio.high)
      return fmt::format("ratio {} is not within its interval {} to {}", ratio.value, ratio.low, ratio.high);
  }
  if (record.max_error && !is_size(*record.max_error)) return "max_error is no size";
  if (!is_size(record.tolerance) || std::isinf(record.tolerance)) return "tolerance is no finite size";
  if (record.message.size() > kMostMessageBytes) return fmt::format("a message of {} bytes", record.message.size());
  if (record.measured_at < 0) return "measured before 1970";
  return std::nullopt;
}

}  // namespace attune
