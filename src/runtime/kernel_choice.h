// Which kernel runs a workload when nothing was measured: the first provider that offers one, with its default, except
// where a rule knows better.
#pragma once

#include "kernel/provider.h"
#include "runtime/input_shapes.h"
#include "runtime/plan.h"

#include <span>

namespace attune {

struct KernelChoice {
  const Provider* provider = nullptr;  // nullptr: all refused
  Config config;
  std::string reason;
  std::vector<Alternative> alternatives;
};

KernelChoice choose_kernel(const Workload& workload, std::span<const Provider* const> providers,
                           InputShapes shapes = InputShapes::fixed);

}  // namespace attune
