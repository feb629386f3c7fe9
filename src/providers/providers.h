// The one list of providers.
#pragma once

#include "kernel/provider.h"

#include <span>

namespace attune {

/// Every provider of this build that works on this machine, the preferred first; the reference is always the last.
std::span<const Provider* const> providers();
/// Those and the skeleton `null`, which planning does not ask: for tests of what every provider promises.
std::span<const Provider* const> every_provider();
/// By name; throws UserError with the names there are.
const Provider& require_provider(std::string_view name);

}  // namespace attune
