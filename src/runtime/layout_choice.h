// The layout that a user asks for convolutions and what lies between them.
#pragma once

#include <cstdint>

namespace attune {

enum class LayoutChoice : uint8_t {
  automatic,  // by rule and by what was measured
  nchw,       // as ONNX has it, everywhere
  nhwc,       // channels last
  blocked,    // channels in blocks of a vector of this machine
};

}  // namespace attune
