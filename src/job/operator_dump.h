// Descriptions of the operators that a model consists of, as a file: what is to be tuned, without the model and without
// its weights.
#pragma once

#include "kernel/parse_workload.h"
#include "runtime/plan.h"

#include <filesystem>
#include <string>
#include <vector>

namespace attune {

struct DumpedOperator {
  Workload workload;
  std::vector<Contents> contents;  // of inputs: whole numbers that the model fixes may be shapes, axes or indices
  std::vector<std::string> nodes;  // whose work it is
};

struct OperatorDump {
  std::string model;
  std::string device;  // device_text() of the machine that wrote it
  int threads = 1;
  std::string tool_version;
  std::vector<DumpedOperator> operators;
  std::vector<std::string> left_out;  // nodes that no text describes, each with the reason
};

/// The steps of a plan, equal workloads merged.
OperatorDump dump_operators(const Plan& plan, const std::string& model, int threads);

std::string to_json_text(const OperatorDump& dump);
/// Throws UserError that names `where` and the operator for what cannot be read or cannot be.
OperatorDump parse_operator_dump(const std::string& text, const std::string& where);

/// Writes <model>_<digits of its contents>.ops.json into the folder, which is made when it is missing; the same
/// operators give the same file. Returns its path.
std::filesystem::path write_operator_dump(const OperatorDump& dump, const std::filesystem::path& folder);

/// A file, or every *.ops.json of a folder in the order of their names. Throws UserError when there is none.
std::vector<OperatorDump> read_operator_dumps(const std::filesystem::path& path);

/// Where ENABLE_TUNE_DUMP asks for dumps: TUNE_DUMP_PATH, or tune_dump in the working folder; nothing where it is
/// unset, 0 or False. Throws UserError for another value.
std::optional<std::filesystem::path> requested_dump_folder();

}  // namespace attune
