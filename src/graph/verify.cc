#include "graph/verify.h"

#include "base/error.h"

#include <set>

namespace attune {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), defined_(graph.values().size(), false) {}

  void run() {
    check_values();
    for (const ValueId id : graph_.inputs) define(id, "an input");
    for (const Capture& capture : graph_.captures) define(capture.inner, "a capture");
    for (size_t i = 0; i < graph_.values().size(); ++i)
      if (graph_.values()[i].is_constant()) defined_[i] = true;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) check_node(graph_.nodes()[i], static_cast<NodeId>(i));
    for (const ValueId id : graph_.outputs)
      if (!is_defined(id))
        throw InternalError("graph '{}': output {} is not produced by anything", graph_.name, label(id));
  }

 private:
  bool in_range(ValueId id) const { return id >= 0 && static_cast<size_t>(id) < graph_.values().size(); }
  bool is_defined(ValueId id) const { return in_range(id) && defined_[static_cast<size_t>(id)]; }
  std::string label(ValueId id) const {
    return in_range(id) ? "'" + graph_.value(id).name + "'" : "#" + std::to_string(id);
  }

  void check_values() const {
    std::set<std::string_view> names;
    for (const Value& value : graph_.values()) {
      if (!names.insert(value.name).second)
        throw InternalError("graph '{}': two values are named '{}'", graph_.name, value.name);
      if (!value.is_constant()) continue;
      if (value.dtype != value.constant.dtype() || concrete(value.shape) != value.constant.dims())
        throw InternalError("graph '{}': constant '{}' is declared as {} {} but holds {} {}", graph_.name, value.name,
                            dtype_name(value.dtype), to_text(value.shape), dtype_name(value.constant.dtype()),
                            to_text(value.constant.dims()));
    }
  }

  void define(ValueId id, const std::string& by) {
    if (!in_range(id))
      throw InternalError("graph '{}': {} is value {}, which does not exist", graph_.name, by, label(id));
    if (is_defined(id) || graph_.value(id).is_constant())
      throw InternalError("graph '{}': value {} is defined twice, the second time by {}", graph_.name, label(id), by);
    defined_[static_cast<size_t>(id)] = true;
  }

  void check_node(const Node& node, NodeId id) {
    const std::string where = "node '" + node.name + "' (" + node.op + ")";
    for (const ValueId input : node.inputs)
      if (input != kNoValue && !is_defined(input))
        throw InternalError("graph '{}': {} reads value {} before it is produced", graph_.name, where, label(input));
    for (const auto& [name, attribute] : node.attributes) {
      const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute);
      if (body == nullptr) continue;
      for (const Capture& capture : (*body)->captures)
        if (!is_defined(capture.outer))
          throw InternalError("graph '{}': {} captures value {} before it is produced", graph_.name, where,
                              label(capture.outer));
      verify(**body);
    }
    for (const ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      define(output, where);
      if (graph_.value(output).producer != id)
        throw InternalError("graph '{}': value {} does not name {} as its producer", graph_.name, label(output), where);
    }
  }

  const Graph& graph_;
  std::vector<bool> defined_;
};

}  // namespace

void verify(const Graph& graph) { Verifier(graph).run(); }

}  // namespace attune
