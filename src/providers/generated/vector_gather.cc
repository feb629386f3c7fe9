#include "providers/generated/vector_gather.h"

#include "codegen/text.h"
#include "codegen/vector/gather_kernel.h"
#include "ops/axis_split.h"
#include "ops/node_traits.h"
#include "providers/generated/vector_parameters.h"

namespace attune {
namespace {

using namespace codegen;

std::variant<GatherKernel, Refusal> describe(const Workload& workload) {
  if (!workload.domain.empty() || workload.op != "Gather") return refuse("operator '{}' does not gather", workload.op);
  const TensorSpec &data = workload.input(0), &indices = workload.input(1), &output = workload.output(0);
  for (const TensorSpec* spec : {&data, &indices, &output})
    if (spec->layout != Layout::plain) return refuse("blocks are gathered in plain layout, got {}", to_text(*spec));
  if (bit_width(data.dtype) < 8) return refuse("{} takes less than a byte", dtype_name(data.dtype));
  if (indices.dtype != DType::i64 && indices.dtype != DType::i32)
    return refuse("indices are i32 or i64, got {}", dtype_name(indices.dtype));
  if (element_count(data.dims) == 0 || element_count(output.dims) == 0) return refuse("a tensor is empty");
  const int64_t given = attribute_or<int64_t>(workload.attributes, "axis", 0);
  const int64_t axis = given < 0 ? given + std::ssize(data.dims) : given;
  const AxisSplit split = split_axis(data.dims, axis);
  GatherKernel kernel;
  kernel.outer = split.outer;
  kernel.size = data.dims[static_cast<size_t>(axis)];
  kernel.count = element_count(indices.dims);
  kernel.block_bytes = split.inner * (bit_width(data.dtype) / 8);
  kernel.wide_indices = indices.dtype == DType::i64;
  return kernel;
}

GatherKernel require_kernel(const Workload& workload) {
  auto described = describe(workload);
  if (const auto* refusal = std::get_if<Refusal>(&described)) throw UserError("{}", refusal->reason);
  return std::get<GatherKernel>(described);
}

/// The code reads what indices say; they come from outside, so each run looks at them first.
template <class Index> void check_indices(const std::byte* bytes, const GatherKernel& kernel) {
  const auto* indices = reinterpret_cast<const Index*>(bytes);
  for (int64_t i = 0; i < kernel.count; ++i)
    if (indices[i] < -kernel.size || indices[i] >= kernel.size)
      throw UserError("Gather: index {} is out of range for a dim of {}", indices[i], kernel.size);
}

}  // namespace

std::optional<Refusal> VectorGatherGenerator::find_refusal(const Workload& workload) const {
  const auto described = describe(workload);
  if (const auto* refusal = std::get_if<Refusal>(&described)) return *refusal;
  return std::nullopt;
}

std::vector<Config> VectorGatherGenerator::offered(const Workload&) const { return {{{"task_bytes", "32768"}}}; }

void VectorGatherGenerator::declare(const Workload&, GeneratorSpace& space) const {
  space.power_of_two("task_bytes", 4 << 10, 1 << 20);
}

GeneratedKernel VectorGatherGenerator::emit(const Workload& workload, const Config& config) const {
  const GatherKernel kernel = require_kernel(workload);
  const GatherConfig choice{generated::Parameters(config).number("task_bytes")};
  GeneratedKernel out;
  out.source = emit_gather(kernel, choice, header_comment({workload.key(), to_text(config)}));
  out.task_count = gather_task_count(kernel, choice);
  out.check = [kernel](const KernelArguments& arguments) {
    kernel.wide_indices ? check_indices<int64_t>(arguments.inputs[1], kernel)
                        : check_indices<int32_t>(arguments.inputs[1], kernel);
  };
  return out;
}

}  // namespace attune
