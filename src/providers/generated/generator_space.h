// Where a generator declares what can be chosen for its kernels: its part of the provider's space, which holds only
// where this generator is chosen.
#pragma once

#include "space/space.h"

namespace attune {

class GeneratorSpace {
 public:
  /// `chosen`: the condition under which the parameters exist; nothing where there is no other generator.
  GeneratorSpace(Space& space, std::optional<Expr> chosen) : space_(space), chosen_(std::move(chosen)) {}

  // As those of Space. Names must differ from those of other generators that serve the same workloads.
  Param ordinal(std::string name, std::vector<int64_t> values);
  Param power_of_two(std::string name, int64_t low, int64_t high);
  Param boolean(std::string name);
  Param categorical(std::string name, std::vector<std::string> values);
  Param permutation(std::string name, std::vector<std::string> items);
  void only_if(const Param& parameter, const Expr& condition);
  void require(const Expr& constraint, std::string why);
  void require(const std::vector<Param>& parameters, ExprFunction allowed, const std::string& why);

  /// States the conditions of the parameters; call it once, after the last declaration.
  void finish();

 private:
  Param add(Param parameter);

  Space& space_;
  std::optional<Expr> chosen_;
  std::vector<Param> unconditional_;
};

}  // namespace attune
