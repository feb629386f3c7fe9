#include "job/operator_dump.h"

#include "bank/device_fingerprint.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "base/hash.h"
#include "job/step_contents.h"
#include "kernel/check_workload.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

namespace attune {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr const char* kExtension = ".ops.json";

std::string text_of(const DumpedOperator& one) {
  WorkloadCase what = case_of(one.workload);
  if (!one.contents.empty()) what.contents = one.contents;
  return to_text(what);
}

DumpedOperator parse_operator(const std::string& text) {
  DumpedOperator one;
  one.workload = parse_workload(text);
  one.contents = parse_workload_case(text).contents;
  return one;
}

/// Why a workload cannot be written down; empty: it can.
std::string why_not(const DumpedOperator& one) {
  try {
    const DumpedOperator read = parse_operator(text_of(one));
    if (read.workload.key() == one.workload.key()) return "";
    return "its text does not read back as the same workload";
  } catch (const Error& error) {
    return error.what();
  }
}

/// "resnet50" of "models/resnet50.onnx" and "zoo_resnet50_batch_8" of "zoo:resnet50:batch=8".
std::string file_stem(const std::string& model) {
  const bool is_file = model.find('/') != std::string::npos || model.ends_with(".onnx");
  std::string stem = is_file ? fs::path(model).stem().string() : model;
  for (char& c : stem)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
  return stem.empty() ? "model" : stem.substr(0, 80);
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) throw UserError("cannot read the dump '{}'", path.string());
  return text;
}

}  // namespace

OperatorDump dump_operators(const Plan& plan, const std::string& model, int threads) {
  OperatorDump dump{model, device_text(), threads, ATTUNE_VERSION, {}, {}};
  std::map<std::string, size_t> by_key;
  for (const Step& step : plan.steps) {
    if (!step.kernel) {
      dump.left_out.push_back(fmt::format("{}: the data decide its shape, or it is control flow", step.label));
      continue;
    }
    const auto known = by_key.find(step.workload.key());
    if (known != by_key.end()) {
      dump.operators[known->second].nodes.push_back(step.label);
      continue;
    }
    DumpedOperator one{step.workload, step_contents(plan, step), {step.label}};
    if (const std::string reason = why_not(one); !reason.empty()) {
      dump.left_out.push_back(fmt::format("{}: {}", step.label, reason));
      continue;
    }
    by_key.emplace(step.workload.key(), dump.operators.size());
    dump.operators.push_back(std::move(one));
  }
  return dump;
}

std::string to_json_text(const OperatorDump& dump) {
  Json operators = Json::array();
  for (const DumpedOperator& one : dump.operators)
    operators.push_back({{"op", one.workload.op}, {"workload", text_of(one)}, {"nodes", one.nodes}});
  return Json{{"attune_dump", kFormat},
              {"model", dump.model},
              {"device", dump.device},
              {"threads", dump.threads},
              {"tool_version", dump.tool_version},
              {"operators", std::move(operators)},
              {"left_out", dump.left_out}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

OperatorDump parse_operator_dump(const std::string& text, const std::string& where) {
  std::string what = "it";
  try {
    const Json json = Json::parse(text);
    const int format = json.at("attune_dump");
    if (format > kFormat) throw UserError("format {} is of a newer attune", format);
    OperatorDump dump;
    dump.model = json.at("model");
    dump.device = json.at("device");
    dump.threads = json.at("threads");
    dump.tool_version = json.at("tool_version");
    dump.left_out = json.at("left_out").get<std::vector<std::string>>();
    if (dump.threads < 1 || dump.threads > 4096) throw UserError("{} threads cannot be", dump.threads);
    for (const Json& one : json.at("operators")) {
      what = fmt::format("operator {}", dump.operators.size() + 1);
      dump.operators.push_back(parse_operator(one.at("workload").get<std::string>()));
      dump.operators.back().nodes = one.at("nodes").get<std::vector<std::string>>();
      if (dump.operators.back().nodes.empty()) throw UserError("it is the work of no node");
      check_workload(dump.operators.back().workload);
    }
    return dump;
  } catch (const Json::exception& error) {
    throw UserError("'{}' is not a dump of operators: {} cannot be read ({}); write it again with 'attune dump'", where,
                    what, error.what());
  } catch (const Error& error) {
    throw UserError("'{}': {} cannot be used: {}; write it again with 'attune dump', or take it out", where, what,
                    error.what());
  }
}

fs::path write_operator_dump(const OperatorDump& dump, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw UserError("cannot make the folder '{}' for dumps: {}", folder.string(), error.message());
  const std::string text = to_json_text(dump);
  const uint64_t digits = hash_bytes(std::as_bytes(std::span(text.data(), text.size())));
  const fs::path path = folder / fmt::format("{}_{:016x}{}", file_stem(dump.model), digits, kExtension);
  AtomicFile file(path);
  file.append(text);
  file.commit();
  return path;
}

std::vector<OperatorDump> read_operator_dumps(const fs::path& path) {
  if (!fs::exists(path))
    throw UserError("there is no dump '{}'; 'attune dump MODEL --output DIR' writes one", path.string());
  std::vector<fs::path> files;
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::directory_iterator(path))
      if (entry.path().filename().string().ends_with(kExtension)) files.push_back(entry.path());
  } else {
    files.push_back(path);
  }
  if (files.empty())
    throw UserError("'{}' has no file *{}; 'attune dump MODEL --output {}' writes one", path.string(), kExtension,
                    path.string());
  std::sort(files.begin(), files.end());
  std::vector<OperatorDump> dumps;
  for (const fs::path& file : files) dumps.push_back(parse_operator_dump(read_text(file), file.string()));
  return dumps;
}

std::optional<fs::path> requested_dump_folder() {
  const char* given = std::getenv("ENABLE_TUNE_DUMP");
  std::string value = given == nullptr ? "" : given;
  std::transform(value.begin(), value.end(), value.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (value.empty() || value == "0" || value == "false") return std::nullopt;
  if (value != "1" && value != "true")
    throw UserError("ENABLE_TUNE_DUMP is '{}'; give True or 1 to dump operators, False or 0 not to", given);
  const char* folder = std::getenv("TUNE_DUMP_PATH");
  return fs::path(folder != nullptr && *folder != '\0' ? folder : "tune_dump");
}

}  // namespace attune
