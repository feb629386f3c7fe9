// What measurement knows about workloads: asked before any rule when a plan is made.
#pragma once

#include "kernel/config.h"
#include "kernel/workload.h"

#include <map>
#include <optional>
#include <string>

namespace attune {

/// The kernel that won for a workload, and how it is known.
struct Advice {
  std::string provider;
  Config config;
  std::string reason;  // "measured 1.31x (1.28 to 1.34) faster than the default of onednn"
};

/// Safe to ask from several threads at once.
class Advisor {
 public:
  virtual ~Advisor() = default;
  /// For exactly this workload; nothing where nobody measured it, or where the default won.
  virtual std::optional<Advice> advise(const Workload& workload) const = 0;
};

/// Advice as a list, by the keys of workloads.
class AdviceList final : public Advisor {
 public:
  explicit AdviceList(std::map<std::string, Advice> advice) : advice_(std::move(advice)) {}
  std::optional<Advice> advise(const Workload& workload) const override {
    const auto found = advice_.find(workload.key());
    return found == advice_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::string, Advice> advice_;
};

}  // namespace attune
