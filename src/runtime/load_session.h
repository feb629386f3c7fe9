// Opens whatever may be run: an ONNX file, a plan file or a model of the zoo.
#pragma once

#include "runtime/session.h"

#include <string>

namespace attune {

/// The graph of an ONNX file or of the zoo, as it is written there. Throws UserError for a plan, whose graph is
/// rewritten for good. `model` is a path, or zoo:NAME with options (zoo/address.h).
Graph load_graph(const std::string& model);

Session load_session(const std::string& model, SessionOptions options);

}  // namespace attune
