// What can be chosen for a kernel: named parameters, constraints between them, and a default.
//
//   Space space;
//   const Param bm = space.power_of_two("bm", 16, 128), bn = space.power_of_two("bn", 16, 128);
//   const Param order = space.permutation("order", {"m", "n", "k"});
//   space.require(bm * bn <= 4096, "the tile fits the registers");
//   space.set_default({{"bm", "32"}, {"bn", "32"}, {"order", "m-n-k"}});
//   space.build();
//
// After build() only valid points exist: they are counted, numbered from 0 and drawn without rejection (point_graph.h).
#pragma once

#include "base/random.h"
#include "space/config.h"
#include "space/expression.h"
#include "space/point_graph.h"

#include <unordered_map>

namespace attune {

/// Which points are neighbours: those with one parameter changed to any value, or, for ordered parameters, only to the
/// next smaller or larger one.
enum class Neighbourhood : uint8_t { any_value, adjacent_value };

class Space {
 public:
  // Declaration: before build() only. Names are unique; UserError otherwise.
  Param ordinal(std::string name, std::vector<int64_t> values);
  Param power_of_two(std::string name, int64_t low, int64_t high);
  Param boolean(std::string name);
  Param categorical(std::string name, std::vector<std::string> values);
  /// Every order of the items: "m-n-k".
  Param permutation(std::string name, std::vector<std::string> items);
  /// Where the condition does not hold, the parameter is not part of a configuration, and constraints that mention it
  /// hold. A condition over an absent parameter does not hold.
  void only_if(const Param& parameter, const Expr& condition);
  /// `why` is for people: "the tile fits the L1 cache".
  void require(const Expr& constraint, std::string why = "");
  /// For what an expression cannot say; `allowed` gets the numbers of exactly these parameters.
  void require(const std::vector<Param>& parameters, ExprFunction allowed, const std::string& why);
  void set_default(Config config);

  /// Throws UserError without a default, or with one that is not valid, and when the space is too large to build. An
  /// empty space is no error: why_empty() explains it.
  Space& build(const BuildLimits& limits = {});

  /// The configurations themselves, numbered as listed; the first is the default. Values that are whole numbers become
  /// ordinal parameters, others categorical ones.
  static Space of_list(const std::vector<Config>& configs);

  // Use: after build() only.
  uint64_t size() const;
  double raw_size() const;  // without constraints
  size_t bytes() const;     // that the points take
  const std::vector<std::shared_ptr<const Parameter>>& parameters() const { return parameters_; }
  bool is_conditional(size_t parameter) const { return conditional_[parameter]; }
  const Config& default_config() const { return default_; }
  uint64_t default_index() const;

  Config at(uint64_t index) const;
  Point point_at(uint64_t index) const;
  Config config_of(const Point& point) const;
  /// Nothing for what is not a valid point, unknown parameters and values included.
  std::optional<uint64_t> index_of(const Config& config) const;
  std::optional<uint64_t> index_of(const Point& point) const;
  std::optional<Point> point_of(const Config& config) const;  // choices only: it may violate constraints
  uint64_t sample(Random& random) const;                      // every point equally likely
  std::vector<uint64_t> neighbours(uint64_t index, Neighbourhood neighbourhood = Neighbourhood::any_value) const;
  /// The point itself where it is valid, else with its conditional parameters made to come and go as their conditions
  /// say. Nothing where that is no valid point either.
  std::optional<uint64_t> settle(Point point) const;

  /// The constraints that a configuration violates, or what is wrong with its names and values; empty when it is valid.
  std::string why_invalid(const Config& config) const;
  /// Which constraints leave nothing together; empty when the space is not empty.
  std::string why_empty() const;
  /// For each constraint how many points there would be without it.
  std::string explain() const;

 private:
  struct Constraint {
    Expr expression;
    std::string why;
    std::string text() const;
  };
  struct PointHash {
    size_t operator()(const Point& point) const;
  };

  Param add(Parameter parameter);
  void require_built() const;
  void require_declaring() const;
  /// The points that obey the constraints for which `is_used` is set.
  std::vector<PointGraph> build_graphs(const std::vector<bool>& is_used, const BuildLimits& limits) const;
  uint64_t count(const std::vector<bool>& is_used) const;

  std::vector<std::shared_ptr<const Parameter>> parameters_;  // shared with handles, which outlive moves of the space
  std::vector<bool> conditional_;
  std::vector<Constraint> constraints_;
  Config default_;
  bool has_default_ = false, is_built_ = false;
  BuildLimits limits_;

  std::vector<PointGraph> graphs_;  // of parameters that no constraint connects; the last varies fastest
  uint64_t size_ = 0;
  std::vector<Point> list_;  // of_list
  std::unordered_map<Point, uint64_t, PointHash> list_index_;
};

}  // namespace attune
