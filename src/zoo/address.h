// Models of the zoo by the text that names them wherever a model is asked for:
// zoo:NAME[:batch=N][:seq=N][:size=N][:seed=N].
#pragma once

#include "graph/graph.h"

#include <string>
#include <string_view>

namespace attune::zoo {

inline bool is_address(std::string_view text) { return text.starts_with("zoo:"); }

/// Throws UserError for an unknown name or option.
Graph build_address(const std::string& address);

}  // namespace attune::zoo
