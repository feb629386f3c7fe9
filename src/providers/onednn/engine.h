// The one oneDNN engine of the process.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <string>

namespace attune::onednn {

/// The CPU. The first call caps the instruction set where the library's AMX paths would crash; so no oneDNN object may
/// be made before it.
const dnnl::engine& engine();

/// What was done so that the library's AMX code does not crash; empty where nothing was needed.
std::string isa_note();

}  // namespace attune::onednn
