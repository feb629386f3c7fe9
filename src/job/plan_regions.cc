#include "job/plan_regions.h"

#include <algorithm>
#include <map>
#include <set>

namespace attune {
namespace {

using StepSet = std::set<size_t>;

bool is_conversion(const Step& step) { return step.node == nullptr; }

bool is_same_kernel(const Step& a, const Step& b) {
  return a.provider == b.provider && a.config == b.config && a.workload.key() == b.workload.key();
}

/// Who writes what whom reads.
class Neighbours {
 public:
  explicit Neighbours(const Plan& plan) : plan_(plan) {
    for (size_t i = 0; i < plan.steps.size(); ++i) {
      for (const SlotId id : plan.steps[i].outputs)
        if (id != kNoSlot) writers_[storage(id)].push_back(i);
      for (const SlotId id : plan.steps[i].inputs)
        if (id != kNoSlot) readers_[storage(id)].push_back(i);
    }
  }

  StepSet of(size_t step) const {
    StepSet result;
    for (const SlotId id : plan_.steps[step].inputs)
      if (id != kNoSlot) insert(writers_, storage(id), result);
    for (const SlotId id : plan_.steps[step].outputs)
      if (id != kNoSlot) insert(readers_, storage(id), result);
    result.erase(step);
    return result;
  }

 private:
  using BySlot = std::map<SlotId, std::vector<size_t>>;

  SlotId storage(SlotId id) const {
    while (plan_.slots[static_cast<size_t>(id)].kind == Slot::Kind::view)
      id = plan_.slots[static_cast<size_t>(id)].source;
    return id;
  }
  static void insert(const BySlot& lists, SlotId id, StepSet& result) {
    const auto found = lists.find(id);
    if (found != lists.end()) result.insert(found->second.begin(), found->second.end());
  }

  const Plan& plan_;
  BySlot writers_, readers_;
};

/// The steps around a set of steps: conversions beside it, and who lies next, beyond them.
struct Surroundings {
  StepSet conversions, neighbours;
};

Surroundings surroundings_of(const Plan& plan, const Neighbours& neighbours, const std::vector<size_t>& own) {
  Surroundings result;
  const StepSet own_set(own.begin(), own.end());
  const auto visit = [&](size_t step) {
    if (own_set.contains(step)) return;
    (is_conversion(plan.steps[step]) ? result.conversions : result.neighbours).insert(step);
  };
  for (const size_t step : own)
    for (const size_t near : neighbours.of(step)) visit(near);
  const StepSet direct = result.conversions;
  for (const size_t step : direct)
    for (const size_t near : neighbours.of(step)) visit(near);
  return result;
}

std::map<std::string, size_t> by_label(const Plan& plan) {
  std::map<std::string, size_t> result;
  for (size_t i = 0; i < plan.steps.size(); ++i)
    if (!is_conversion(plan.steps[i])) result.emplace(plan.steps[i].label, i);
  return result;
}

/// How many regions a step lies in decides its share in each.
void share_steps(std::vector<ChangedRegion>& regions, std::vector<StepShare> ChangedRegion::*side) {
  std::map<size_t, int> count;
  for (const ChangedRegion& region : regions)
    for (const StepShare& one : region.*side) ++count[one.step];
  for (ChangedRegion& region : regions)
    for (StepShare& one : region.*side) one.share = 1.0 / count[one.step];
}

class RegionFinder {
 public:
  RegionFinder(const Plan& before, const Plan& after)
      : before_(before),
        after_(after),
        near_before_(before),
        near_after_(after),
        labels_before_(by_label(before)),
        labels_after_(by_label(after)) {}

  /// `changed` says of each region which workload or nodes it is about.
  template <typename Changed> std::vector<ChangedRegion> find(std::span<const Changed> changed) {
    std::vector<ChangedRegion> regions(changed.size());
    for (size_t r = 0; r < regions.size(); ++r) {
      find_own(changed[r], regions[r]);
      for (const size_t step : regions[r].own_before) regions[r].before.push_back({step});
      for (const size_t step : regions[r].own_after) regions[r].after.push_back({step});
    }
    for (ChangedRegion& region : regions) add_surroundings(region);
    share_steps(regions, &ChangedRegion::before);
    share_steps(regions, &ChangedRegion::after);
    return regions;
  }

 private:
  void find_own(const std::string& key, ChangedRegion& region) {
    for (size_t i = 0; i < before_.steps.size(); ++i) {
      const Step& step = before_.steps[i];
      if (is_conversion(step) || !step.kernel || step.workload.key() != key) continue;
      region.own_before.push_back(i);
      changed_.insert(step.label);
      const std::string part = step.label + " ";  // see unfuse.cc
      for (const auto& [label, position] : labels_after_)
        if (label == step.label || (label.starts_with(part) && !labels_before_.contains(label))) {
          region.own_after.push_back(position);
          changed_.insert(label);
        }
    }
  }

  void find_own(const NodeNames& names, ChangedRegion& region) {
    region.own_before = steps_named(before_, names);
    region.own_after = steps_named(after_, names);
    for (const size_t step : region.own_before) changed_.insert(before_.steps[step].label);
    for (const size_t step : region.own_after) changed_.insert(after_.steps[step].label);
  }

  void add_surroundings(ChangedRegion& region) {
    const Surroundings here = surroundings_of(before_, near_before_, region.own_before);
    const Surroundings there = surroundings_of(after_, near_after_, region.own_after);
    for (const size_t step : here.conversions) region.before.push_back({step});
    for (const size_t step : there.conversions) region.after.push_back({step});
    std::set<std::string> labels;
    for (const size_t step : here.neighbours) labels.insert(before_.steps[step].label);
    for (const size_t step : there.neighbours) labels.insert(after_.steps[step].label);
    for (const std::string& label : labels) {
      const auto in_before = labels_before_.find(label), in_after = labels_after_.find(label);
      // Who changed as well answers for itself.
      if (changed_.contains(label) || in_before == labels_before_.end() || in_after == labels_after_.end()) continue;
      region.before.push_back({in_before->second});
      region.after.push_back({in_after->second});
    }
  }

  const Plan& before_;
  const Plan& after_;
  Neighbours near_before_, near_after_;
  std::map<std::string, size_t> labels_before_, labels_after_;
  std::set<std::string> changed_;  // labels
};

}  // namespace

std::vector<ChangedRegion> changed_regions(const Plan& before, const Plan& after,
                                           std::span<const std::string> changed_keys) {
  return RegionFinder(before, after).find(changed_keys);
}

std::vector<size_t> steps_named(const Plan& plan, const NodeNames& names) {
  const auto is_named = [&](const std::string& label) {
    if (names.contains(label)) return true;
    for (size_t end = label.find(' '); end != std::string::npos; end = label.find(' ', end + 1))
      if (names.contains(std::string_view(label).substr(0, end))) return true;  // see unfuse.cc
    return false;
  };
  std::vector<size_t> steps;
  for (size_t i = 0; i < plan.steps.size(); ++i)
    if (!is_conversion(plan.steps[i]) && is_named(plan.steps[i].label)) steps.push_back(i);
  return steps;
}

std::vector<ChangedRegion> changed_regions(const Plan& before, const Plan& after,
                                           std::span<const NodeNames> changed_nodes) {
  return RegionFinder(before, after).find(changed_nodes);
}

std::vector<std::pair<size_t, size_t>> untouched_steps(const Plan& before, const Plan& after,
                                                       std::span<const ChangedRegion> regions) {
  StepSet touched;
  for (const ChangedRegion& region : regions)
    for (const StepShare& one : region.before) touched.insert(one.step);
  const auto labels = by_label(after);
  std::vector<std::pair<size_t, size_t>> result;
  for (size_t i = 0; i < before.steps.size(); ++i) {
    const auto found = labels.find(before.steps[i].label);
    if (is_conversion(before.steps[i]) || touched.contains(i) || found == labels.end()) continue;
    if (is_same_kernel(before.steps[i], after.steps[found->second])) result.emplace_back(i, found->second);
  }
  return result;
}

}  // namespace attune
