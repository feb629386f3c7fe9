// Public spaces and configurations as internal ones and back.
#pragma once

#include "api/inner.h"

#include <attune/space.h>

namespace attune {
inline namespace v1 {

struct Expr::State {
  inner::Expr expr;
};

struct Param::State {
  inner::Param param;
};

struct Space::State {
  inner::Space space;
  bool is_built = false;
};

struct SpaceAccess {
  /// Built, and out of the public one's hands.
  static inner::Space take(Space space);
};

}  // namespace v1
}  // namespace attune
