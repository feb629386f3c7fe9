// The MODEL argument of every verb: an ONNX file, or a model of the zoo.
#pragma once

#include "graph/graph.h"
#include "onnx/model.h"

#include <map>
#include <string>

namespace attune::cli {

inline constexpr const char* kModelHelp =
    "ONNX file, or zoo:NAME[:batch=N][:seq=N][:size=N][:seed=N] (see 'attune zoo list')";

inline constexpr const char* kModelOrPlanHelp =
    "ONNX file, plan file, or zoo:NAME[:batch=N][:seq=N][:size=N][:seed=N] (see 'attune zoo list')";

Model load_model(const std::string& argument);

/// What --shapes says: shapes by input name ("x:1x3x224x224") and numbers for symbols ("batch=8"), separated by commas.
struct ShapeArguments {
  std::map<std::string, Dims> shapes;
  std::map<std::string, int64_t> symbols;
};

inline constexpr const char* kShapesHelp = "Shapes of inputs, x:1x3x224x224,…, or numbers for symbolic dims, batch=8,…";

ShapeArguments parse_shapes(const std::string& text);

/// Complete shapes for the inputs that the arguments speak of. Throws UserError for a name that is no input or symbol
/// of the graph and for a shape that contradicts the model's.
std::map<std::string, Dims> input_shapes(const Graph& graph, const ShapeArguments& arguments);

}  // namespace attune::cli
