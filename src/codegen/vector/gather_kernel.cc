#include "codegen/vector/gather_kernel.h"

#include "codegen/text.h"
#include "codegen/vector/byte_tasks.h"

#include <fmt/core.h>

namespace attune::codegen {
namespace {

constexpr const char* kName = "gather_kernel";

/// Declares `from` and `to` of block number `block`.
std::string ends_of_block(const GatherKernel& kernel) {
  std::string out = fmt::format("      long index = indices[block % {}];\n", kernel.count);
  out += fmt::format("      index += index < 0 ? {} : 0;\n", kernel.size);
  out += fmt::format("      const char* from = data + (block / {} * {} + index) * {};\n", kernel.count, kernel.size,
                     kernel.block_bytes);
  return out + fmt::format("      char* to = (char*)outputs[0] + block * {};\n", kernel.block_bytes);
}

}  // namespace

int64_t gather_task_count(const GatherKernel& kernel, const GatherConfig& config) {
  return byte_tasks(kernel.block_bytes, config.task_bytes).count(kernel.blocks());
}

GeneratedSource emit_gather(const GatherKernel& kernel, const GatherConfig& config, const std::string& header) {
  const ByteTasks split = byte_tasks(kernel.block_bytes, config.task_bytes);
  std::string out = header + fmt::format("extern \"C\" __attribute__((visibility(\"default\"))) void {}({}) {{\n",
                                         kName, kEntryParameters);
  out += "  const char* data = (const char*)inputs[0];\n";
  out += fmt::format("  const {0}* indices = (const {0}*)inputs[1];\n", kernel.wide_indices ? "long" : "int");
  out += "  for (long task = begin; task < end; ++task) {\n";
  if (split.pieces > 1) {
    out += fmt::format("      const long block = task / {0}, first = task % {0} * {1};\n", split.pieces,
                       config.task_bytes);
    out += fmt::format("      const long bytes = first + {0} < {1} ? {0} : {1} - first;\n", config.task_bytes,
                       kernel.block_bytes);
    out += ends_of_block(kernel) + "      __builtin_memcpy(to + first, from + first, bytes);\n";
  } else {
    out += fmt::format("    const long first = task * {0}, last = first + {0} < {1} ? first + {0} : {1};\n", split.rows,
                       kernel.blocks());
    out += "    for (long block = first; block < last; ++block) {\n" + ends_of_block(kernel);
    out += fmt::format("      __builtin_memcpy(to, from, {});\n    }}\n", kernel.block_bytes);
  }
  return {out + "  }\n}\n", kName};
}

}  // namespace attune::codegen
