// The generated protobuf classes. Included only inside src/onnx.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include "onnx/onnx-ml.pb.h"
#pragma GCC diagnostic pop
