// Any bytes as a model: import, check, infer, and print must end in a graph or in an Error.
#include "graph/text.h"
#include "graph/verify.h"
#include "onnx/model.h"
#include "ops/infer_graph.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const attune::Model model = attune::import_onnx(std::as_bytes(std::span(data, size)), nullptr);
    attune::verify(model.graph);  // an InternalError would be ours
    attune::to_text(model.graph, {.most_elements = 64});
    attune::check_operators(model.graph);
    attune::infer_graph(model.graph);
  } catch (const attune::InternalError&) {
    __builtin_trap();
  } catch (const attune::Error&) {}
  return 0;
}
