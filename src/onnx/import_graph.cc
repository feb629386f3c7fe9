#include "onnx/import_graph.h"

#include "onnx/import_attribute.h"
#include "onnx/import_type.h"
#include "onnx/legacy.h"
#include "onnx/scope.h"
#include "onnx/sort_nodes.h"
#include "ops/registry.h"

#include <set>

namespace attune::onnx_io {
namespace {

// Functions may call functions; both limits stop models whose expansion would never end or never fit.
constexpr int kMostCallDepth = 32;
constexpr size_t kMostNodes = 250'000;

using FunctionKey = std::tuple<std::string, std::string, std::string>;  // domain, name, overload
using AttributeProtos = std::map<std::string, const onnx::AttributeProto*>;

std::string plain_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

template <class Imports> OpsetVersions opset_versions(const Imports& imports) {
  OpsetVersions versions;
  for (const auto& entry : imports) {
    const std::string domain = plain_domain(entry.domain());
    if (entry.version() < 1)
      throw UserError("the model imports opset {} of domain '{}'; versions start at 1", entry.version(),
                      domain.empty() ? "ai.onnx" : domain);
    if (domain.empty() && entry.version() > kNewestOpset)
      throw UnsupportedError("the model uses opset {}, attune knows opsets up to {}; export it for an older opset",
                             entry.version(), kNewestOpset);
    versions[domain] = std::max(versions[domain], entry.version());
  }
  return versions;
}

class Importer {
 public:
  Importer(const onnx::ModelProto& model, TensorSources& sources) : model_(model), sources_(sources) {
    for (const auto& function : model.functions()) {
      const FunctionKey key{plain_domain(function.domain()), function.name(), function.overload()};
      if (!functions_.emplace(key, &function).second)
        throw UserError("the model defines function '{}' twice", function.name());
    }
  }

  Graph run() {
    Context context{opset_versions(model_.opset_import()), {}, 0};
    if (context.opsets.empty()) throw UserError("the model imports no opset, so its operators have no meaning");
    Graph graph;
    graph.opsets = context.opsets;
    Scope scope(graph, nullptr, "");
    fill(model_.graph(), scope, context, "the graph");
    return graph;
  }

 private:
  /// What the nodes of one body share: opsets, and inside a function the attributes of the call.
  struct Context {
    OpsetVersions opsets;
    AttributeProtos call_attributes;
    int call_depth = 0;
    bool in_function = false;
  };

  void fill(const onnx::GraphProto& proto, Scope& scope, const Context& context, const std::string& where) {
    Graph& graph = scope.graph();
    graph.name = proto.name();
    add_initializers(proto, scope, where);
    add_inputs(proto, scope, where);
    read_value_infos(proto, where);
    refuse_overwriting(proto, scope, where);
    for (const onnx::NodeProto* node : sorted_nodes(proto.node(), where)) add_node(*node, scope, context, where);
    add_outputs(proto, scope, where);
  }

  void add_initializers(const onnx::GraphProto& proto, Scope& scope, const std::string& where) {
    const auto add = [&](const std::string& name, Tensor tensor) {
      if (name.empty()) throw UserError("an initializer of {} has no name", where);
      if (!scope.bind(name, scope.graph().add_constant(scope.prefix() + name, std::move(tensor))))
        throw UserError("initializer '{}' is defined twice in {}", name, where);
    };
    for (const auto& tensor : proto.initializer())
      add(tensor.name(), import_tensor(tensor, sources_, "initializer '" + tensor.name() + "'"));
    for (const auto& tensor : proto.sparse_initializer())
      add(tensor.values().name(),
          import_sparse_tensor(tensor, sources_, "initializer '" + tensor.values().name() + "'"));
  }

  void add_inputs(const onnx::GraphProto& proto, Scope& scope, const std::string& where) {
    std::set<std::string> seen;
    for (const auto& input : proto.input()) {
      const std::string what = "input '" + input.name() + "'";
      if (input.name().empty()) throw UserError("an input of {} has no name", where);
      if (!seen.insert(input.name()).second) throw UserError("{} is declared twice in {}", what, where);
      // A subgraph's inputs may leave their type to the enclosing operator.
      const bool untyped = input.type().value_case() == onnx::TypeProto::VALUE_NOT_SET && where != "the graph";
      const ValueType type = untyped ? ValueType{} : import_type(input.type(), input.name(), what);
      if (const auto initializer = scope.find_own(input.name())) {
        check_default(scope.graph().value(*initializer), type, what);  // an input with a default is a constant here
        continue;
      }
      scope.bind(input.name(), scope.graph().add_input(scope.prefix() + input.name(), type.dtype, type.shape));
    }
  }

  static void check_default(const Value& initializer, const ValueType& declared, const std::string& what) {
    bool fits = declared.dtype == initializer.dtype || declared.dtype == DType::undefined;
    if (fits && declared.shape) {
      fits = declared.shape->size() == initializer.shape->size();
      for (size_t i = 0; fits && i < declared.shape->size(); ++i)
        fits = !(*declared.shape)[i].is_known() || (*declared.shape)[i] == (*initializer.shape)[i];
    }
    if (!fits)
      throw UserError("{} is declared as {} {} but its initializer is {} {}", what, dtype_name(declared.dtype),
                      to_text(declared.shape), dtype_name(initializer.dtype), to_text(initializer.shape));
  }

  static void refuse_overwriting(const onnx::GraphProto& proto, const Scope& scope, const std::string& where) {
    for (const auto& node : proto.node())
      for (const std::string& name : node.output())
        if (scope.find_own(name))
          throw UserError("value '{}' is produced by node '{}' but is already an input or initializer of {}", name,
                          node_label(node), where);
  }

  void read_value_infos(const onnx::GraphProto& proto, const std::string& where) {
    for (const auto& info : proto.value_info()) {
      if (info.type().value_case() != onnx::TypeProto::kTensorType) continue;
      if (info.type().tensor_type().elem_type() == 0) continue;
      declared_[{where, info.name()}] = import_type(info.type(), info.name(), "value '" + info.name() + "'");
    }
  }

  ValueId new_value(const std::string& name, Scope& scope, const std::string& where) {
    Value value;
    value.name = scope.prefix() + name;
    const auto declared = declared_.find({where, name});
    if (declared != declared_.end()) {
      value.dtype = declared->second.dtype;
      value.shape = declared->second.shape;
    }
    return scope.graph().add_value(std::move(value));
  }

  void add_node(const onnx::NodeProto& proto, Scope& scope, const Context& context, const std::string& where) {
    const std::string domain = plain_domain(proto.domain());
    const std::string label = node_label(proto);
    if (++node_count_ > kMostNodes) throw UserError("the model expands to more than {} nodes", kMostNodes);

    std::vector<ValueId> inputs;
    for (const std::string& name : proto.input()) {
      if (name.empty()) {
        inputs.push_back(kNoValue);
        continue;
      }
      const auto id = scope.find(name);
      if (!id)
        throw UserError("node '{}' ({}) reads value '{}', which nothing in {} produces", label, proto.op_type(), name,
                        where);
      inputs.push_back(*id);
    }
    while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();

    const auto function = functions_.find({domain, proto.op_type(), proto.overload()});
    if (function != functions_.end()) {
      expand(proto, *function->second, inputs, scope, context, where);
      return;
    }

    Node node;
    node.name = scope.prefix() + label;
    node.domain = domain;
    node.op = proto.op_type();
    node.version = opset_of(domain, context, label, proto.op_type());
    node.inputs = std::move(inputs);
    add_attributes(proto, node, scope, context, label);
    for (const std::string& name : proto.output()) {
      if (name.empty()) {
        node.outputs.push_back(kNoValue);
        continue;
      }
      node.outputs.push_back(new_value(name, scope, where));
      if (!scope.bind(name, node.outputs.back()))
        throw UserError("value '{}' is produced by node '{}' but is already an input or initializer of {}", name, label,
                        where);
    }
    while (!node.outputs.empty() && node.outputs.back() == kNoValue) node.outputs.pop_back();
    upgrade_legacy_node(node, scope.graph());
    scope.graph().add_node(std::move(node));
  }

  int opset_of(const std::string& domain, const Context& context, const std::string& label,
               const std::string& op) const {
    const auto found = context.opsets.find(domain);
    if (found == context.opsets.end())
      throw UserError("node '{}' ({}) is of domain '{}', whose opset the model does not import", label, op,
                      domain.empty() ? "ai.onnx" : domain);
    return static_cast<int>(std::min<int64_t>(found->second, 1 << 20));
  }

  void add_attributes(const onnx::NodeProto& proto, Node& node, Scope& scope, const Context& context,
                      const std::string& label) {
    for (const auto& written : proto.attribute()) {
      const onnx::AttributeProto* attribute = &written;
      if (!written.ref_attr_name().empty()) {
        if (!context.in_function)
          throw UserError(
              "attribute '{}' of node '{}' refers to a function's attribute, but stands outside of a function",
              written.name(), label);
        const auto given = context.call_attributes.find(written.ref_attr_name());
        if (given == context.call_attributes.end()) continue;  // the call omits it: the operator's default holds
        attribute = given->second;
      }
      const std::string what = "attribute '" + written.name() + "' of node '" + label + "'";
      const auto import_subgraph = [&](const onnx::GraphProto& body) {
        auto graph = std::make_shared<Graph>();
        graph->opsets = context.opsets;
        Scope inner(*graph, &scope, "");
        fill(body, inner, context, what);
        return graph;
      };
      // sparse_value of Constant is read as a dense value.
      const std::string name = written.name() == "sparse_value" ? "value" : written.name();
      if (!node.attributes.emplace(name, import_attribute(*attribute, sources_, import_subgraph, what)).second)
        throw UserError("{} is given twice", what);
    }
  }

  void expand(const onnx::NodeProto& call, const onnx::FunctionProto& function, const std::vector<ValueId>& inputs,
              Scope& scope, const Context& context, const std::string& where) {
    const std::string label = node_label(call);
    if (context.call_depth >= kMostCallDepth)
      throw UserError("function '{}' (node '{}') is called more than {} levels deep; does it call itself?",
                      function.name(), label, kMostCallDepth);
    if (static_cast<int>(inputs.size()) > function.input_size() || call.output_size() > function.output_size())
      throw UserError("node '{}' calls function '{}' with {} inputs and {} outputs, it has {} and {}", label,
                      function.name(), inputs.size(), call.output_size(), function.input_size(),
                      function.output_size());
    Context body{opset_versions(function.opset_import()), {}, context.call_depth + 1, true};
    for (const auto& [domain, version] : context.opsets) body.opsets.emplace(domain, version);
    for (const auto& fallback : function.attribute_proto()) body.call_attributes[fallback.name()] = &fallback;
    bind_call_attributes(call, function, context, label, body);

    Scope inner(scope.graph(), nullptr, scope.prefix() + label + "/");
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i] != kNoValue) inner.bind(function.input(static_cast<int>(i)), inputs[i]);
    for (int i = 0; i < function.input_size(); ++i)
      if (!inner.find(function.input(i))) inner.omit(function.input(i));
    const std::string body_name = "function '" + function.name() + "'";
    for (const onnx::NodeProto* node : sorted_nodes(function.node(), body_name))
      add_node(*node, inner, body, body_name);
    for (int i = 0; i < call.output_size(); ++i) {
      if (call.output(i).empty()) continue;
      const auto id = inner.find(function.output(i));
      if (!id || *id == kNoValue)
        throw UserError("function '{}' does not produce its output '{}'", function.name(), function.output(i));
      if (!scope.bind(call.output(i), *id))
        throw UserError("value '{}' is produced twice in {}", call.output(i), where);
    }
  }

  /// Attributes of the call, themselves resolved when the call stands in another function.
  static void bind_call_attributes(const onnx::NodeProto& call, const onnx::FunctionProto& function,
                                   const Context& context, const std::string& label, Context& body) {
    for (const auto& attribute : call.attribute()) {
      if (attribute.ref_attr_name().empty()) {
        body.call_attributes[attribute.name()] = &attribute;
        continue;
      }
      const auto given = context.call_attributes.find(attribute.ref_attr_name());
      if (given != context.call_attributes.end()) body.call_attributes[attribute.name()] = given->second;
    }
    for (const std::string& required : function.attribute())
      if (!body.call_attributes.count(required))
        throw UserError("node '{}' calls function '{}' without its attribute '{}'", label, function.name(), required);
  }

  void add_outputs(const onnx::GraphProto& proto, Scope& scope, const std::string& where) {
    for (const auto& output : proto.output()) {
      auto id = scope.find(output.name());
      if (!id || *id == kNoValue)
        throw UserError("output '{}' of {} is not produced by anything", output.name(), where);
      const std::string what = "output '" + output.name() + "'";
      if (where == "the graph" && scope.graph().value(*id).name != output.name())
        id = renamed(*id, output.name(), scope.graph());
      const bool untyped = output.type().value_case() == onnx::TypeProto::VALUE_NOT_SET;
      if (!untyped && (where == "the graph" || output.type().value_case() == onnx::TypeProto::kTensorType)) {
        Value& value = scope.graph().value(*id);
        const ValueType type = import_type(output.type(), output.name(), what);
        if (value.dtype == DType::undefined) value.dtype = type.dtype;
        if (!value.shape) value.shape = type.shape;
      }
      scope.graph().outputs.push_back(*id);
    }
    if (where == "the graph" && scope.graph().outputs.empty())
      throw UserError("the model has no outputs, so there is nothing to run");
  }

  /// An output that an expanded function produced bears the function's name for it; users know it by the model's.
  static ValueId renamed(ValueId id, const std::string& name, Graph& graph) {
    Value value;
    value.name = name;
    Node identity;
    identity.name = name;
    identity.op = "Identity";
    identity.version = graph.opsets.count("") ? static_cast<int>(graph.opsets.at("")) : kNewestOpset;
    identity.inputs = {id};
    identity.outputs = {graph.add_value(std::move(value))};
    const ValueId result = identity.outputs[0];
    graph.add_node(std::move(identity));
    return result;
  }

  const onnx::ModelProto& model_;
  TensorSources& sources_;
  std::map<FunctionKey, const onnx::FunctionProto*> functions_;
  std::map<std::pair<std::string, std::string>, ValueType> declared_;  // (graph, value) → value_info
  size_t node_count_ = 0;
};

}  // namespace

Graph import_graph(const onnx::ModelProto& model, TensorSources& sources) { return Importer(model, sources).run(); }

}  // namespace attune::onnx_io
