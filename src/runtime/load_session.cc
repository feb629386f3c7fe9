#include "runtime/load_session.h"

#include "base/error.h"
#include "onnx/model.h"
#include "runtime/plan_file.h"
#include "zoo/address.h"

namespace attune {

Graph load_graph(const std::string& model) {
  return zoo::is_address(model) ? zoo::build_address(model) : load_onnx(model).graph;
}

Session load_session(const std::string& model, SessionOptions options) {
  if (!zoo::is_address(model) && is_plan_file(model)) {
    if (options.dtype != DType::f32)
      throw UserError(
          "computing in {} cannot be asked of '{}': a plan keeps the precision it was made with; make one of "
          "the model with 'attune plan MODEL --dtype {}'",
          dtype_name(options.dtype), model, dtype_name(options.dtype));
    if (options.layout != LayoutChoice::automatic)
      throw UserError(
          "a layout cannot be asked of '{}': a plan keeps those it was made with; make one of the model with 'attune "
          "plan MODEL --layout …'",
          model);
    return load_plan(model, std::move(options));
  }
  return Session(load_graph(model), std::move(options));
}

}  // namespace attune
