// The parts of a plan whose memory layout is chosen one by one: a convolution and what follows it in its layout.
#pragma once

#include "runtime/plan.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace attune {

struct LayoutRegions {
  /// Values that go from one region to another; converted when the layouts differ.
  struct Border {
    size_t from = 0, to = 0;
    int64_t bytes = 0;
  };
  std::vector<std::string> convolutions;          // each begins a region
  std::map<std::string, size_t> region_of_node;   // by name; nodes that have no layout to choose are in none
  std::map<std::string, size_t> region_of_value;  // by name, of the node that gives it
  std::vector<Border> borders;
};

/// Whether its layout is chosen: a convolution of floats.
bool begins_layout_region(const Node& node);

LayoutRegions find_layout_regions(const Plan& plan);

/// What the steps of each region take, conversions to and from it included, by the times of the steps of any plan of
/// this graph.
std::vector<double> region_times(const LayoutRegions& regions, const Plan& plan, std::span<const double> step_ms);

/// Milliseconds for each byte that is converted, by the conversions of a plan; 0 where there are none.
double conversion_rate(const Plan& plan, std::span<const double> step_ms);

}  // namespace attune
