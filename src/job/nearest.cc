#include "job/nearest.h"

#include "bank/device_fingerprint.h"
#include "kernel/parse_workload.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

constexpr size_t kNeighbours = 3;      // workloads whose winner is tried
constexpr double kWorthTrying = 0.97;  // time over that of the default there

/// Adds the distance of two lists of operands; false where they are not of one kind.
bool add_distance(const std::vector<std::optional<TensorSpec>>& a, const std::vector<std::optional<TensorSpec>>& b,
                  double& distance) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].has_value() != b[i].has_value()) return false;
    if (!a[i]) continue;
    if (a[i]->dtype != b[i]->dtype || a[i]->dims.size() != b[i]->dims.size()) return false;
    distance += a[i]->layout == b[i]->layout ? 0 : 1;
    for (size_t d = 0; d < a[i]->dims.size(); ++d) {
      const auto size = [&](const TensorSpec& spec) { return static_cast<double>(std::max<int64_t>(1, spec.dims[d])); };
      distance += std::abs(std::log(size(*a[i]) / size(*b[i])));
    }
  }
  return true;
}

/// The best kernel of a workload that somebody measured.
struct Winner {
  Workload workload;
  Record record;
};

/// Winners of one operator on this machine, one for each workload.
std::vector<Winner> winners_of(const OpatJob& job, const std::string& op) {
  std::map<std::string, Record> best;
  RecordFilter filter;
  filter.op = op;
  filter.outcome = Outcome::ok;
  filter.device = device_text();
  job.options.bank->each(filter, [&](const Record& record) {
    if (!is_verified(record) || record.key.threads != job.threads || record.ratio->value > kWorthTrying) return;
    const auto [slot, is_new] = best.emplace(record.key.workload, record);
    if (!is_new && record.ratio->value < slot->second.ratio->value) slot->second = record;
  });
  std::vector<Winner> winners;
  for (auto& [key, record] : best) {
    try {
      winners.push_back({parse_workload(key), std::move(record)});
    } catch (const UserError&) {
      continue;  // of a version that wrote workloads otherwise
    }
    const bool is_fast = winners.back().record.key.mode == numeric_mode_name(NumericMode::high_performance);
    winners.back().workload.mode = is_fast ? NumericMode::high_performance : NumericMode::high_precision;
  }
  return winners;
}

void suggest_for(TaskSearch& search, const std::vector<Winner>& winners) {
  std::vector<std::pair<double, const Record*>> near;
  for (const Winner& winner : winners) {
    const auto distance = workload_distance(search.task().workload, winner.workload);
    if (distance && *distance > 0 && *distance < kNear) near.emplace_back(*distance, &winner.record);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < near.size() && i < kNeighbours; ++i)
    search.suggest({near[i].second->provider, near[i].second->config});
}

}  // namespace

std::optional<double> workload_distance(const Workload& a, const Workload& b) {
  if (a.domain != b.domain || a.op != b.op || a.mode != b.mode) return std::nullopt;
  double distance = attributes_text(a.attributes) == attributes_text(b.attributes) ? 0 : 1;
  if (!add_distance(a.inputs, b.inputs, distance) || !add_distance(a.outputs, b.outputs, distance)) return std::nullopt;
  return distance;
}

void suggest_nearest(OpatJob& job) {
  if (job.options.bank == nullptr) return;
  std::map<std::string, std::vector<Winner>> by_op;
  for (TaskSearch& search : job.searches) {
    if (!search.has_alternatives()) continue;
    const std::string op(op_of_workload(search.task().key));
    const auto [found, is_new] = by_op.try_emplace(op);
    if (is_new) found->second = winners_of(job, op);
    suggest_for(search, found->second);
  }
}

}  // namespace attune
