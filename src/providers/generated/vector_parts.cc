#include "providers/generated/vector_parts.h"

#include "codegen/text.h"
#include "codegen/vector/parts_kernel.h"
#include "ops/node_traits.h"
#include "providers/generated/vector_parameters.h"

namespace attune {
namespace {

using namespace codegen;

std::variant<PartsKernel, Refusal> describe(const Workload& workload) {
  const bool joins = workload.domain.empty() && workload.op == "Concat";
  if (!joins && !(workload.domain.empty() && workload.op == "Split"))
    return refuse("operator '{}' neither joins nor cuts", workload.op);
  const auto& parts = joins ? workload.inputs : workload.outputs;
  const TensorSpec& joined = joins ? workload.output(0) : workload.input(0);
  const int64_t given = attribute_or<int64_t>(workload.attributes, "axis", 0);
  const auto axis = static_cast<size_t>(given < 0 ? given + std::ssize(joined.dims) : given);
  if (joined.layout != Layout::plain && !(joined.layout == Layout::nhwc && axis == 1))
    return refuse("tensors are joined and cut in plain layout, or along the channels where these are last, got {}",
                  to_text(joined));
  if (bit_width(joined.dtype) < 8) return refuse("{} takes less than a byte", dtype_name(joined.dtype));
  if (element_count(joined.dims) == 0) return refuse("the tensor is empty");
  PartsKernel kernel;
  kernel.joins = joins;
  int64_t inner = bit_width(joined.dtype) / 8;
  for (size_t i = 0; i < joined.dims.size(); ++i)
    if (i != axis) (joined.layout == Layout::nhwc || i < axis ? kernel.rows : inner) *= joined.dims[i];
  for (const auto& part : parts) {
    if (!part) return refuse("a part is omitted");
    if (part->layout != joined.layout || part->dtype != joined.dtype)
      return refuse("parts and whole differ: {} and {}", to_text(part), to_text(joined));
    kernel.part_bytes.push_back(part->dims[axis] * inner);
  }
  return kernel;
}

PartsKernel require_kernel(const Workload& workload) {
  auto described = describe(workload);
  if (const auto* refusal = std::get_if<Refusal>(&described)) throw UserError("{}", refusal->reason);
  return std::get<PartsKernel>(std::move(described));
}

}  // namespace

std::optional<Refusal> VectorPartsGenerator::find_refusal(const Workload& workload) const {
  const auto described = describe(workload);
  if (const auto* refusal = std::get_if<Refusal>(&described)) return *refusal;
  return std::nullopt;
}

std::vector<Config> VectorPartsGenerator::offered(const Workload&) const {
  return {{{"task_bytes", "32768"}, {"order", "rows"}}, {{"task_bytes", "32768"}, {"order", "parts"}}};
}

void VectorPartsGenerator::declare(const Workload&, GeneratorSpace& space) const {
  space.power_of_two("task_bytes", 4 << 10, 1 << 20);
  space.categorical("order", {"rows", "parts"});
}

GeneratedKernel VectorPartsGenerator::emit(const Workload& workload, const Config& config) const {
  const PartsKernel kernel = require_kernel(workload);
  const generated::Parameters parameters(config);
  const PartsConfig choice{parameters.number("task_bytes"), parameters.text("order") == "rows"};
  GeneratedKernel out;
  out.source = emit_parts(kernel, choice, header_comment({workload.key(), to_text(config)}));
  out.task_count = parts_task_count(kernel, choice);
  return out;
}

}  // namespace attune
