// Parameters that the vector generators share, and reading them from a config.
#pragma once

#include "codegen/vector/map_kernel.h"
#include "providers/generated/generator.h"

namespace attune::generated {

/// Lanes of a vector that the instruction set has, the widest first.
std::vector<int64_t> lane_values();
/// Whether results go past the caches, by default where they would not stay there.
inline const std::vector<std::string> kStores{"cached", "past_cache"};
std::string usual_stores(const TensorSpec& output);
/// `config` with other values.
Config with(Config config, const Config& changes);

class Parameters {
 public:
  explicit Parameters(const Config& config) : config_(config) {}
  int64_t number(const std::string& name) const;
  const std::string& text(const std::string& name) const { return config_.at(name); }
  bool has(const std::string& name) const { return config_.count(name) > 0; }
  codegen::Stores stores() const;

 private:
  const Config& config_;
};

}  // namespace attune::generated
