// A provider: one source of kernels (the reference, a vendor library, generated code). Everything that chooses,
// measures or runs kernels goes through this interface and knows none of them.
#pragma once

#include "kernel/config.h"
#include "kernel/kernel.h"

#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace attune {

class Space;  // space/space.h

/// Why a provider has nothing for a workload, in words that a person can act on: "winograd needs a 3x3 kernel with
/// stride 1, got 7x7/2".
struct Refusal {
  std::string reason;
};

template <class... Args> Refusal refuse(fmt::format_string<Args...> text, Args&&... args) {
  return Refusal{fmt::format(text, std::forward<Args>(args)...)};
}

/// What a provider has for a workload: configurations that can be built, the default first. All of them, unless there
/// are too many to list: then a few good ones, and space() has the rest.
struct Offer {
  std::vector<Config> configs;
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const = 0;
  /// What its kernels and packed constants depend on beside the device: versions and settings. Plans and records made
  /// in another environment do not apply.
  virtual std::string environment() const { return ""; }
  /// As much of it as a plan depends on that keeps the artifacts of its kernels.
  virtual std::string plan_environment() const { return environment(); }
  /// What a person should know of it on this machine, such as an instruction set that it must not use; often empty.
  virtual std::string note() const { return ""; }
  /// Everything for exactly this workload, the layouts of its operands included.
  virtual std::variant<Offer, Refusal> offer(const Workload& workload) const = 0;
  /// What a search may choose from; contains what offer() lists, which is all there is unless a provider says more.
  /// Throws UserError with the reason where offer() refuses, as default_config does.
  virtual Space space(const Workload& workload) const;
  /// What serves where nobody has measured.
  virtual Config default_config(const Workload& workload) const;
  /// `config` is a point of space() for this workload; throws UserError for any other.
  virtual std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) const = 0;
  /// The kernel that Kernel::artifact() was taken from; throws UserError for bytes that are not of this workload and
  /// config.
  virtual std::unique_ptr<Kernel> build_from_artifact(const Workload& workload, const Config& config,
                                                      std::span<const std::byte> artifact) const;
};

}  // namespace attune
