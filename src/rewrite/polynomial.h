// The polynomial in one value that a tree of sums and products computes, whichever way it is spelled.
#pragma once

#include "graph/graph.h"

#include <array>
#include <optional>

namespace attune::rewrite {

/// Of the third degree at most; coefficients by power.
struct Polynomial {
  std::array<double, 4> coefficients = {};
  bool narrow = false;  // a number in it is of a type of 16 bits

  /// The same coefficients, as exactly as exporters and the types of their constants keep them.
  bool is(const std::array<double, 4>& wanted) const;
};

/// Nothing where anything but x and constants of one element enters, or where the degree is higher.
std::optional<Polynomial> polynomial_of(const Graph& graph, ValueId id, ValueId x);

}  // namespace attune::rewrite
