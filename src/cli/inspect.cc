// attune inspect: what a model consists of and what it costs.
#include "cli/inspect_passes.h"
#include "cli/model_argument.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "graph/text.h"
#include "insight/inventory.h"
#include "kernel/workload_count.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace attune::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InspectArguments {
  OutputFormat format = OutputFormat::table;
  std::string model;
  std::string shapes;
  bool ops = false;
  bool text = false;
  bool passes = false;
  bool verbose = false;
};

Json shape_json(const std::optional<Shape>& shape) {
  if (!shape) return nullptr;
  Json dims = Json::array();
  for (const Dim& dim : *shape) {
    if (dim.is_known())
      dims.push_back(dim.value());
    else if (dim.is_symbolic())
      dims.push_back(dim.text());
    else
      dims.push_back(nullptr);
  }
  return dims;
}

void add_interface(const Graph& graph, const GraphFacts* facts, Report& report) {
  Table table{"inputs and outputs", {{"kind"}, {"name"}, {"dtype"}, {"shape"}}, {}};
  const auto add = [&](const char* kind, const char* key, const std::vector<ValueId>& ids) {
    report.json[key] = Json::array();
    for (const ValueId id : ids) {
      const Value& value = graph.value(id);
      const ValueType type = facts ? facts->types[static_cast<size_t>(id)] : ValueType{value.dtype, value.shape};
      table.rows.push_back({kind, value.name, std::string(dtype_name(type.dtype)), attune::to_text(type.shape)});
      report.json[key].push_back(
          {{"name", value.name}, {"dtype", dtype_name(type.dtype)}, {"shape", shape_json(type.shape)}});
    }
  };
  add("input", "inputs", graph.inputs);
  add("output", "outputs", graph.outputs);
  report.tables.push_back(std::move(table));
}

void add_operators(const Inventory& inventory, Report& report) {
  Table table{"operators", {{"operator"}, {"opset", Align::right}, {"count", Align::right}, {"supported"}}, {}};
  report.json["operators"] = Json::array();
  for (const OperatorCount& entry : inventory.operators) {
    table.rows.push_back(
        {entry.op, std::to_string(entry.opset), std::to_string(entry.count), entry.supported ? "yes" : "no"});
    report.json["operators"].push_back(
        {{"op", entry.op}, {"opset", entry.opset}, {"count", entry.count}, {"supported", entry.supported}});
  }
  report.tables.push_back(std::move(table));
}

void add_workloads(const std::vector<WorkloadCount>& workloads, Report& report) {
  Table table{"workloads",
              {{"operator"},
               {"count", Align::right},
               {"MFLOP", Align::right},
               {"MB", Align::right},
               {"share", Align::right},
               {"inputs"},
               {"outputs"},
               {"attributes"}},
              {}};
  double all_flops = 0;
  for (const WorkloadCount& w : workloads) all_flops += w.cost.flops * static_cast<double>(w.count());
  report.json["workloads"] = Json::array();
  for (const WorkloadCount& w : workloads) {
    const double share = all_flops > 0 ? w.cost.flops * static_cast<double>(w.count()) / all_flops : 0;
    table.rows.push_back({w.op, std::to_string(w.count()), fmt::format("{:.3f}", w.cost.flops / 1e6),
                          fmt::format("{:.3f}", w.cost.bytes / 1e6), fmt::format("{:.1f} %", share * 100), w.inputs,
                          w.outputs, w.attributes});
    report.json["workloads"].push_back({{"key", w.key},
                                        {"op", w.op},
                                        {"count", w.count()},
                                        {"flops", w.cost.flops},
                                        {"bytes", w.cost.bytes},
                                        {"flops_share", share},
                                        {"inputs", w.inputs},
                                        {"outputs", w.outputs},
                                        {"attributes", w.attributes},
                                        {"nodes", w.nodes}});
  }
  report.tables.push_back(std::move(table));
}

std::string megabytes(double bytes) { return fmt::format("{:.1f} MB", bytes / 1e6); }

void add_totals(const Model& model, const Inventory& inventory, const std::vector<WorkloadCount>* workloads,
                const MemoryEstimate* memory, Report& report) {
  Table table{"model", {{"what"}, {"value", Align::right}}, {}};
  const auto row = [&](const char* what, const std::string& text, const char* key, const Json& value) {
    table.rows.push_back({what, text});
    report.json[key] = value;
  };
  if (!model.producer.empty()) row("producer", model.producer, "producer", model.producer);
  Json opsets = Json::object();
  std::string opset_text;
  for (const auto& [domain, version] : model.graph.opsets) {
    const std::string name = domain.empty() ? "ai.onnx" : domain;
    opsets[name] = version;
    opset_text += (opset_text.empty() ? "" : ", ") + fmt::format("{} {}", name, version);
  }
  row("opset", opset_text, "opsets", opsets);
  row("nodes", std::to_string(model.graph.nodes().size()), "nodes", model.graph.nodes().size());
  row("parameters", std::to_string(inventory.parameters), "parameters", inventory.parameters);
  row("weights", megabytes(static_cast<double>(inventory.weight_bytes)), "weight_bytes", inventory.weight_bytes);
  if (workloads) {
    const ModelCost cost = model_cost(*workloads);
    const char* open = "open: give --shapes";
    row("flops", cost.complete ? fmt::format("{:.3f} G", cost.cost.flops / 1e9) : open, "flops",
        cost.complete ? Json(cost.cost.flops) : Json());
    row("bytes moved", cost.complete ? megabytes(cost.cost.bytes) : open, "bytes",
        cost.complete ? Json(cost.cost.bytes) : Json());
    const auto peak = memory->activation_bytes;
    row("peak memory", peak ? megabytes(static_cast<double>(*peak + memory->constant_bytes)) : open,
        "peak_memory_bytes", peak ? Json(*peak + memory->constant_bytes) : Json());
  }
  report.tables.insert(report.tables.begin(), std::move(table));
}

ExitCode run_inspect(const InspectArguments& arguments) {
  Model model = load_model(arguments.model);
  InferOptions options;
  options.input_shapes = input_shapes(model.graph, parse_shapes(arguments.shapes));
  const Inventory inventory = take_inventory(model.graph);
  Report report;
  const bool supported = std::all_of(inventory.operators.begin(), inventory.operators.end(),
                                     [](const OperatorCount& entry) { return entry.supported; });
  if (!supported) {
    // The parts list is useful even so; what needs the operators' meaning is left out.
    add_totals(model, inventory, nullptr, nullptr, report);
    add_interface(model.graph, nullptr, report);
    add_operators(inventory, report);
    print(report, arguments.format);
    check_operators(model.graph);  // throws, naming the first one
  }
  check_operators(model.graph);
  const GraphFacts facts = infer_graph(model.graph, options);
  if (arguments.text) {
    apply_facts(model.graph, facts);
    write_stdout(attune::to_text(model.graph, {.most_elements = 16}));
    return ExitCode::ok;
  }
  if (arguments.passes) {
    print(inspect_passes(model.graph, {arguments.verbose}), arguments.format);
    return ExitCode::ok;
  }
  const std::vector<WorkloadCount> workloads = count_workloads(model.graph, facts);
  const MemoryEstimate memory = estimate_memory(model.graph, facts);
  add_totals(model, inventory, &workloads, &memory, report);
  add_interface(model.graph, &facts, report);
  if (arguments.ops)
    add_workloads(workloads, report);
  else
    add_operators(inventory, report);
  print(report, arguments.format);
  return ExitCode::ok;
}

}  // namespace

Action add_inspect(CLI::App& verb) {
  auto arguments = std::make_shared<InspectArguments>();  // shared: CLI11 writes it, the action reads it
  verb.add_option("model", arguments->model, kModelHelp)->required();
  verb.add_option("--shapes", arguments->shapes, kShapesHelp);
  auto* ops = verb.add_flag("--ops", arguments->ops, "List workloads: equal operators merged, with counts and costs");
  auto* text = verb.add_flag("--text", arguments->text, "Print the graph in text form, with inferred types");
  text->excludes(ops);
  auto* passes = verb.add_flag("--passes", arguments->passes, "Show what each pass makes of the model before it runs");
  passes->excludes(ops)->excludes(text);
  verb.add_flag("--verbose", arguments->verbose, "With --passes: also the nodes that came and went")->needs(passes);
  add_format(verb, arguments->format);
  return [arguments] { return run_inspect(*arguments); };
}

}  // namespace attune::cli
