// attune zoo: lists the built-in models and writes them as ONNX files.
#include "zoo/zoo.h"

#include "cli/output.h"
#include "cli/verbs.h"
#include "onnx/model.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace attune::cli {
namespace {

struct ZooArguments {
  OutputFormat format = OutputFormat::table;
  std::string name;
  std::string output;
  zoo::Options options;
};

Report list_models() {
  Report report;
  Table table{"", {{"name"}, {"parameters", Align::right}, {"summary"}}, {}};
  report.json = nlohmann::ordered_json::array();
  for (const zoo::Entry& entry : zoo::entries()) {
    table.rows.push_back({std::string(entry.name), std::to_string(entry.parameters), std::string(entry.summary)});
    report.json.push_back({{"name", entry.name}, {"parameters", entry.parameters}, {"summary", entry.summary}});
  }
  report.tables.push_back(std::move(table));
  return report;
}

ExitCode run_zoo(const ZooArguments& arguments) {
  if (arguments.name == "list") {
    if (!arguments.output.empty()) throw UserError("-o goes with a model's name, not with 'list'");
    print(list_models(), arguments.format);
    return ExitCode::ok;
  }
  const Graph graph = zoo::build(arguments.name, arguments.options);
  const std::string path = arguments.output.empty() ? arguments.name + ".onnx" : arguments.output;
  save_onnx(graph, path);
  Report report;
  const int64_t parameters = zoo::parameter_count(graph);
  report.tables.push_back(
      {"", {{"model"}, {"file"}, {"parameters", Align::right}}, {{arguments.name, path, std::to_string(parameters)}}});
  report.json = {{"model", arguments.name}, {"file", path}, {"parameters", parameters}};
  print(report, arguments.format);
  return ExitCode::ok;
}

}  // namespace

Action add_zoo(CLI::App& verb) {
  auto arguments = std::make_shared<ZooArguments>();  // shared: CLI11 writes it, the action reads it
  verb.add_option("name", arguments->name, "A model's name, or 'list'")->required();
  verb.add_option("-o,--output", arguments->output, "File to write (default: NAME.onnx)");
  verb.add_option("--batch", arguments->options.batch, "Batch size; 0 leaves it symbolic")->capture_default_str();
  verb.add_option("--seq", arguments->options.sequence, "Tokens of text models; 0 leaves them symbolic")
      ->capture_default_str();
  verb.add_option("--image-size", arguments->options.image_size,
                  "Pixels on a side of vision models (0: the model's own)")
      ->capture_default_str();
  verb.add_option("--seed", arguments->options.seed, "Seed of the weights")->capture_default_str();
  add_format(verb, arguments->format);
  return [arguments] { return run_zoo(*arguments); };
}

}  // namespace attune::cli
