#include "job/function/function_record.h"

#include "base/atomic_file.h"
#include "base/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace attune {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

Json json_of(const Ratio& ratio) { return {{"value", ratio.value}, {"low", ratio.low}, {"high", ratio.high}}; }
Ratio ratio_of(const Json& json) {
  const Ratio ratio{json.at("value"), json.at("low"), json.at("high")};
  if (!(ratio.low > 0) || !(ratio.low <= ratio.value) || !(ratio.value <= ratio.high))
    throw UserError("a ratio of {} is none", json.dump());
  return ratio;
}

Json json_of(const FunctionTrial& trial) {
  Json json{{"config", trial.config}, {"outcome", outcome_name(trial.outcome)}};
  if (trial.outcome == Outcome::ok) {
    json["ratio"] = json_of(trial.ratio);
    json["time_ns"] = trial.time_ns;
    json["pairs"] = trial.pairs;
    json["final"] = trial.is_final;
  } else {
    json["message"] = trial.message;
  }
  return json;
}

FunctionTrial trial_of(const Json& json) {
  FunctionTrial trial;
  trial.config = json.at("config");
  const auto outcome = outcome_of_name(json.at("outcome").get<std::string>());
  if (!outcome) throw UserError("'{}' is no outcome", json.at("outcome").get<std::string>());
  trial.outcome = *outcome;
  if (*outcome == Outcome::ok) {
    trial.ratio = ratio_of(json.at("ratio"));
    trial.time_ns = json.at("time_ns");
    trial.pairs = json.at("pairs");
    trial.is_final = json.at("final");
  } else {
    trial.message = json.at("message");
  }
  return trial;
}

Json json_of(const ShapeRecord& shape) {
  Json trials = Json::array();
  for (const FunctionTrial& trial : shape.trials) trials.push_back(json_of(trial));
  return {{"shape", shape.shape},           {"weight", shape.weight},     {"best", shape.best},
          {"ratio", json_of(shape.ratio)},  {"time_ns", shape.best_ns},   {"default", shape.standard},
          {"default_ns", shape.default_ns}, {"trials", std::move(trials)}};
}

ShapeRecord shape_of(const Json& json) {
  ShapeRecord shape;
  shape.shape = json.at("shape").get<Dims>();
  shape.weight = json.at("weight");
  shape.best = json.at("best");
  shape.ratio = ratio_of(json.at("ratio"));
  shape.best_ns = json.at("time_ns");
  shape.standard = json.at("default");
  shape.default_ns = json.at("default_ns");
  for (const Json& trial : json.at("trials")) shape.trials.push_back(trial_of(trial));
  return shape;
}

}  // namespace

const FunctionTrial* ShapeRecord::find(const Config& config) const {
  const auto found =
      std::find_if(trials.begin(), trials.end(), [&](const FunctionTrial& trial) { return trial.config == config; });
  return found == trials.end() ? nullptr : &*found;
}

std::string to_json_text(const FunctionRecord& record) {
  Json shapes = Json::array();
  for (const ShapeRecord& shape : record.shapes) shapes.push_back(json_of(shape));
  Json json{{"attune_record", kFormat}, {"computation", record.name}, {"version", record.version},
            {"dims", record.dims},      {"device", record.device},    {"tool_version", record.tool_version},
            {"overall", Json(nullptr)}, {"shapes", std::move(shapes)}};
  if (record.overall) json["overall"] = {{"config", *record.overall}, {"ratio", record.overall_ratio}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

FunctionRecord parse_function_record(const std::string& text, const std::string& where) {
  try {
    const Json json = Json::parse(text);
    const int format = json.at("attune_record");
    if (format > kFormat) throw UserError("it has format {}, which a newer attune wrote", format);
    FunctionRecord record;
    record.name = json.at("computation");
    record.version = json.at("version");
    record.dims = json.at("dims").get<std::vector<std::string>>();
    record.device = json.at("device");
    record.tool_version = json.at("tool_version");
    if (const Json& overall = json.at("overall"); !overall.is_null()) {
      record.overall = overall.at("config").get<Config>();
      record.overall_ratio = overall.at("ratio");
    }
    for (const Json& shape : json.at("shapes")) {
      record.shapes.push_back(shape_of(shape));
      if (record.shapes.back().shape.size() != record.dims.size())
        throw UserError("shape [{}] does not have {} dims", to_text(record.shapes.back().shape), record.dims.size());
    }
    return record;
  } catch (const Json::exception& error) {
    throw UserError("'{}' is not a record of a tuned computation ({}); tune again, or give the file that did", where,
                    error.what());
  } catch (const UserError& error) {
    throw UserError("'{}' cannot be used: {}; tune again, or give another file", where, error.what());
  }
}

void save_function_record(const FunctionRecord& record, const std::filesystem::path& path) {
  AtomicFile file(path);
  file.append(to_json_text(record));
  file.commit();
}

FunctionRecord load_function_record(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) throw UserError("cannot read the record '{}'", path.string());
  return parse_function_record(text, path.string());
}

}  // namespace attune
