// A function of the user's that is to be tuned: how it is made for a shape and a configuration, and what there is to
// choose from.
#pragma once

#include "graph/shape.h"
#include "space/space.h"

#include <functional>
#include <string>
#include <vector>

namespace attune {

/// The function for one shape and configuration, with data of its own.
struct FunctionCandidate {
  std::function<void()> run;           // one call
  std::function<std::string()> check;  // after a call: what is wrong with its result; empty: nothing
};

struct TunableFunction {
  std::string name;
  std::string version;            // of its code: records of another one do not apply
  std::vector<std::string> dims;  // what the numbers of a shape are: {"rows", "columns"}
  std::function<Space(const Dims&)> space;
  /// One of these two: calls that are timed here, or times in nanoseconds that come from elsewhere. Both throw for
  /// what cannot be.
  std::function<FunctionCandidate(const Dims&, const Config&)> build;
  std::function<double(const Dims&, const Config&)> evaluate;
};

/// Throws UserError for a function without a name, a space or a way to measure it.
void check_function(const TunableFunction& function);
/// Throws UserError for a shape that does not have the function's dims.
void check_shape(const TunableFunction& function, const Dims& shape);
/// The space of a shape; throws UserError when it is empty, with the constraints that emptied it.
Space space_of(const TunableFunction& function, const Dims& shape);
/// "rows=4, columns=768"
std::string shape_text(const TunableFunction& function, const Dims& shape);

}  // namespace attune
