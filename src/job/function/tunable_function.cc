#include "job/function/tunable_function.h"

#include "base/error.h"

namespace attune {

void check_function(const TunableFunction& function) {
  if (function.name.empty()) throw UserError("the computation has no name; records are kept under it");
  if (!function.space) throw UserError("the computation '{}' has no space; set `space`", function.name);
  if (static_cast<bool>(function.build) == static_cast<bool>(function.evaluate))
    throw UserError("the computation '{}' has {}; set one of `build` and `evaluate`", function.name,
                    function.build ? "two ways to be measured" : "no way to be measured");
}

void check_shape(const TunableFunction& function, const Dims& shape) {
  if (shape.size() == function.dims.size()) return;
  throw UserError("shape [{}] of '{}' has {} dims, its computation has {}", to_text(shape), function.name, shape.size(),
                  function.dims.size());
}

Space space_of(const TunableFunction& function, const Dims& shape) {
  Space space = function.space(shape);
  if (space.size() == 0)
    throw UserError("'{}' with {} has nothing to choose from: {}", function.name, shape_text(function, shape),
                    space.why_empty());
  return space;
}

std::string shape_text(const TunableFunction& function, const Dims& shape) {
  std::string text;
  for (size_t i = 0; i < shape.size() && i < function.dims.size(); ++i)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", function.dims[i], shape[i]);
  return text;
}

}  // namespace attune
