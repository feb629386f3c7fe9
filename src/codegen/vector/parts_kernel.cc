#include "codegen/vector/parts_kernel.h"

#include "codegen/text.h"
#include "codegen/vector/byte_tasks.h"

#include <fmt/core.h>

#include <numeric>

namespace attune::codegen {
namespace {

constexpr const char* kName = "parts_kernel";

/// A copy of `bytes` of part `i`, `at` bytes into the part and `place` into the joined row.
std::string copy_line(const PartsKernel& kernel, size_t i, const std::string& at, const std::string& place,
                      const std::string& bytes) {
  const std::string part =
      fmt::format("{}[{}] + row * {} + {}", kernel.joins ? "inputs" : "outputs", i, kernel.part_bytes[i], at);
  const std::string joined =
      fmt::format("{}[0] + row * {} + {}", kernel.joins ? "outputs" : "inputs", kernel.row_bytes(), place);
  return fmt::format("__builtin_memcpy((char*){}, (const char*){}, {});\n", kernel.joins ? joined : part,
                     kernel.joins ? part : joined, bytes);
}

std::string whole_rows(const PartsKernel& kernel, const PartsConfig& config, int64_t rows) {
  const std::string loop = "    for (long row = first; row < last; ++row)";
  std::string out = fmt::format("    const long first = task * {0}, last = first + {0} < {1} ? first + {0} : {1};\n",
                                rows, kernel.rows);
  if (config.by_rows) out += loop + " {\n";
  int64_t offset = 0;
  for (size_t i = 0; i < kernel.part_bytes.size(); ++i) {
    if (kernel.part_bytes[i] == 0) continue;
    if (!config.by_rows) out += loop + "\n";
    out += "      " + copy_line(kernel, i, "0", std::to_string(offset), std::to_string(kernel.part_bytes[i]));
    offset += kernel.part_bytes[i];
  }
  return config.by_rows ? out + "    }\n" : out;
}

std::string pieces_of_rows(const PartsKernel& kernel, const PartsConfig& config, int64_t pieces) {
  std::string out = fmt::format("    const long row = task / {0}, from = task % {0} * {1}, to = from + {1};\n", pieces,
                                config.task_bytes);
  int64_t offset = 0;
  for (size_t i = 0; i < kernel.part_bytes.size(); ++i) {
    if (kernel.part_bytes[i] == 0) continue;
    const int64_t end = offset + kernel.part_bytes[i];
    out += fmt::format("    {{\n      const long low = from > {0} ? from : {0}, high = to < {1} ? to : {1};\n", offset,
                       end);
    out += "      if (low < high) " + copy_line(kernel, i, fmt::format("(low - {})", offset), "low", "high - low");
    out += "    }\n";
    offset = end;
  }
  return out;
}

}  // namespace

int64_t PartsKernel::row_bytes() const { return std::accumulate(part_bytes.begin(), part_bytes.end(), int64_t{0}); }

int64_t parts_task_count(const PartsKernel& kernel, const PartsConfig& config) {
  return byte_tasks(kernel.row_bytes(), config.task_bytes).count(kernel.rows);
}

GeneratedSource emit_parts(const PartsKernel& kernel, const PartsConfig& config, const std::string& header) {
  const ByteTasks split = byte_tasks(kernel.row_bytes(), config.task_bytes);
  std::string out = header + fmt::format("extern \"C\" __attribute__((visibility(\"default\"))) void {}({}) {{\n",
                                         kName, kEntryParameters);
  out += "  for (long task = begin; task < end; ++task) {\n";
  out += split.pieces == 1 ? whole_rows(kernel, config, split.rows) : pieces_of_rows(kernel, config, split.pieces);
  return {out + "  }\n}\n", kName};
}

}  // namespace attune::codegen
