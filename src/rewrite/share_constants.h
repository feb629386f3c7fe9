// Gives the bodies of control flow the constants that they read from outside, so that they fold and pack them too.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

/// A captured value that is constant outside becomes a constant of the body, in bodies of bodies too.
int share_constants(Graph& graph);

}  // namespace attune::rewrite
