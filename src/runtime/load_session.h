// Opens whatever may be run: an ONNX file, a plan file or a model of the zoo.
#pragma once

#include "runtime/session.h"

#include <string>

namespace attune {

/// `model` is a path, or zoo:NAME with options (zoo/address.h).
Session load_session(const std::string& model, SessionOptions options);

}  // namespace attune
