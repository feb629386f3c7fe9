// Runs exported ONNX backend test cases (folders with model.onnx and test_data_set_*/{input,output}_*.pb) and compares
// dtype, shape and values: backend_runner [--json OUT] [--session] DIR...
#include "onnx/model.h"
#include "ops/infer_graph.h"
#include "runtime/executor.h"
#include "runtime/session.h"
#include "tensor_compare.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace {

namespace fs = std::filesystem;
using attune::NamedTensor;
using attune::Tensor;
using Json = nlohmann::json;

std::vector<NamedTensor> load_set(const fs::path& folder, const std::string& kind) {
  std::vector<NamedTensor> tensors;
  for (int i = 0;; ++i) {
    const fs::path file = folder / (kind + "_" + std::to_string(i) + ".pb");
    if (!fs::exists(file)) return tensors;
    tensors.push_back(attune::load_tensor_proto(file));
  }
}

/// Inputs by name; files without names go by position.
std::vector<Tensor> arrange_inputs(const attune::Graph& graph, const std::vector<NamedTensor>& given) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const attune::Value& value = graph.value(graph.inputs[i]);
    const auto named =
        std::find_if(given.begin(), given.end(), [&](const NamedTensor& t) { return t.name == value.name; });
    if (named == given.end() && i >= given.size()) throw attune::UserError("no data for input '{}'", value.name);
    inputs.push_back(named != given.end() ? named->tensor : given[i].tensor);
    attune::check_input(value, inputs.back());
  }
  return inputs;
}

/// The plain reference, or what users run: rewritten, planned, with every provider.
enum class Way { reference, session };

/// Empty when the case passes, else why not.
std::string run_case(const fs::path& folder, const Json& meta, Way way) {
  const attune::Model model = attune::load_onnx(folder / "model.onnx");
  attune::infer_graph(model.graph);  // static inference must cope with every model that runs
  const attune::ReferenceExecutor executor(model.graph);
  const attune::Session session(model.graph);
  const attune::test::Tolerance tolerance{meta.value("rtol", 1e-3), meta.value("atol", 1e-7)};
  for (int set = 0;; ++set) {
    const fs::path data = folder / ("test_data_set_" + std::to_string(set));
    if (!fs::exists(data)) return set == 0 ? "the case has no data" : "";
    const auto expected = load_set(data, "output");
    const auto inputs = arrange_inputs(model.graph, load_set(data, "input"));
    const auto actual = way == Way::session ? session.run(inputs) : executor.run(inputs);
    if (actual.size() != expected.size()) return "expected " + std::to_string(expected.size()) + " outputs";
    for (size_t i = 0; i < expected.size(); ++i) {
      const std::string difference = attune::test::compare(actual[i], expected[i].tensor, tolerance);
      if (!difference.empty()) return "output " + std::to_string(i) + ": " + difference;
    }
  }
}

Json judge(const fs::path& folder, Way way) {
  Json meta = Json::object();
  if (std::ifstream file(folder / "meta.json"); file) meta = Json::parse(file);
  Json result{{"name", folder.filename().string()}, {"kind", meta.value("kind", "node")}};
  if (!meta.value("plain", true)) {
    result["status"] = "excluded";
    result["reason"] = meta.value("reason", "");
    return result;
  }
  std::string why;
  try {
    why = run_case(folder, meta, way);
  } catch (const std::exception& error) {
    why = error.what();
  }
  result["status"] = why.empty() ? "passed" : "failed";
  if (!why.empty()) result["reason"] = why;
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  std::string json_path;
  Way way = Way::reference;
  Json results = Json::array();
  int passed = 0, failed = 0, excluded = 0;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--json" && i + 1 < argc) {
      json_path = argv[++i];
      continue;
    }
    if (std::string(argv[i]) == "--session") {
      way = Way::session;
      continue;
    }
    const Json result = judge(argv[i], way);
    const std::string status = result["status"];
    if (status == "passed")
      ++passed;
    else if (status == "failed")
      ++failed;
    else
      ++excluded;
    if (status == "failed")
      std::cout << "FAIL " << result["name"].get<std::string>() << ": " << result["reason"].get<std::string>() << '\n';
    results.push_back(result);
  }
  if (!json_path.empty()) std::ofstream(json_path) << results.dump(1) << '\n';
  std::cout << passed << " passed, " << failed << " failed, " << excluded << " excluded\n";
  return failed == 0 ? 0 : 1;
}
