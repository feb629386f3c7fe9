#include "runtime/load_session.h"

#include "onnx/model.h"
#include "runtime/plan_file.h"
#include "zoo/address.h"

namespace attune {

Session load_session(const std::string& model, SessionOptions options) {
  if (zoo::is_address(model)) return Session(zoo::build_address(model), std::move(options));
  if (is_plan_file(model)) return load_plan(model, std::move(options));
  return Session(load_onnx(model).graph, std::move(options));
}

}  // namespace attune
