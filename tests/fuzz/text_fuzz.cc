// Any bytes as the text form of a graph; what parses must print and parse to the same text again.
#include "graph/text.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const attune::Graph graph = attune::parse_graph({reinterpret_cast<const char*>(data), size});
    const std::string text = attune::to_text(graph);
    if (attune::to_text(attune::parse_graph(text)) != text) __builtin_trap();
  } catch (const attune::UserError&) {}
  return 0;
}
