// The one oneDNN engine of the process.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

namespace attune::onednn {

/// The CPU. The first call caps the instruction set where the library's AMX paths would crash; so no oneDNN object may
/// be made before it.
const dnnl::engine& engine();

}  // namespace attune::onednn
