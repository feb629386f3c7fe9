// Families that are about the graph itself: branches, work on constants, the same node twice.
#include "rewrite/random_graph/graph_sampler.h"

namespace attune::test {
namespace {

/// A branch that reads one outer value through a few nodes.
std::shared_ptr<Graph> make_branch(GraphSampler& g, const char* name, ValueId outer) {
  auto body = std::make_shared<Graph>();
  body->name = name;
  body->opsets[""] = g.opset();
  const std::string prefix = name + std::to_string(g.graph().nodes().size()) + "_";
  const auto add = [&](const char* op, std::vector<ValueId> inputs) {
    Value value;
    value.name = prefix + op + std::to_string(body->nodes().size());
    Node node;
    node.name = value.name;
    node.op = op;
    node.version = g.opset();
    node.inputs = std::move(inputs);
    node.outputs = {body->add_value(std::move(value))};
    const ValueId result = node.outputs[0];
    body->add_node(std::move(node));
    return result;
  };
  Value captured;
  captured.name = prefix + "x";
  const ValueId x = body->add_value(std::move(captured));
  body->captures.push_back({outer, x});
  ValueId y = x;
  if (g.chance(0.5)) y = add("Identity", {y});
  if (g.chance(0.5)) y = add("Mul", {y, add("Sigmoid", {y})});
  if (g.chance(0.5)) {
    // A constant of the graph around it.
    Value shared;
    shared.name = prefix + "shared";
    body->captures.push_back({g.number(0.25), body->add_value(std::move(shared))});
    y = add("Sub", {y, body->captures.back().inner});
  }
  if (g.chance(0.5)) y = add("Add", {y, body->add_constant(prefix + "c", Tensor::scalar<float>(0.5f))});
  body->outputs = {add(g.one_of({"Relu", "Tanh", "Neg"}), {y})};
  return body;
}

void sample_branch(GraphSampler& g) {
  const ValueId x = g.pick_float();
  ValueId condition = kNoValue;
  if (g.chance(0.7))
    condition = g.add_input({}, DType::boolean);
  else
    condition = g.apply("Cast", {g.number(static_cast<double>(g.below(2)))}, {{"to", int64_t{9}}});
  g.apply("If", {condition}, {{"then_branch", make_branch(g, "then", x)}, {"else_branch", make_branch(g, "else", x)}});
}

void sample_constant_work(GraphSampler& g) {
  const ValueId x = g.pick_float(1);
  const int64_t c = g.dims(x).back();
  const ValueId sum = g.apply("Add", {g.uniform({1, c}, 0.2, 0.6), g.uniform({c}, 0.2, 0.6)});
  g.apply(g.one_of({"Mul", "Add"}), {x, g.chance(0.5) ? sum : g.reshape(sum, {c})});
}

void sample_repeat(GraphSampler& g) { g.repeat_node(); }

}  // namespace

std::vector<Family> control_families() {
  return {{"branch", 2, sample_branch}, {"constant_work", 3, sample_constant_work}, {"repeat", 4, sample_repeat}};
}

}  // namespace attune::test
