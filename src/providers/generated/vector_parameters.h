// Parameters that the vector generators share, and reading them from a config.
#pragma once

#include "codegen/vector/map_kernel.h"
#include "providers/generated/generator.h"

namespace attune::generated {

/// Lanes of a vector that the instruction set has, the widest first.
Choice lanes_choice();
/// Whether results go past the caches; by default where they would not stay there.
Choice stores_choice(int64_t output_bytes);

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
