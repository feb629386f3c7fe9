#include "providers/generated/compiled_kernel.h"

#include <algorithm>
#include <array>

namespace attune {

CompiledKernel::CompiledKernel(GeneratedKernel kernel, std::vector<std::byte> object)
    : kernel_(std::move(kernel)), object_(std::move(object)), loaded_(LoadedObject::load(object_)) {
  function_ = reinterpret_cast<GeneratedFunction>(reinterpret_cast<uintptr_t>(loaded_->function(kernel_.source.entry)));
}

std::vector<Tensor> CompiledKernel::prepare(std::span<const Tensor* const> constants) const {
  return kernel_.prepare ? kernel_.prepare(constants) : std::vector<Tensor>{};
}

bool CompiledKernel::takes_over(int i) const {
  return std::ranges::find(kernel_.taken_over, i) != kernel_.taken_over.end();
}

void CompiledKernel::run(const KernelArguments& arguments, int64_t begin, int64_t end) const {
  if (begin >= end) return;
  constexpr size_t kMostPrepared = 16;
  std::array<const void*, kMostPrepared> prepared{};
  if (arguments.prepared.size() > kMostPrepared)
    throw InternalError("a generated kernel packs more than {} tensors", kMostPrepared);
  std::ranges::transform(arguments.prepared, prepared.begin(), [](const Tensor& tensor) { return tensor.bytes(); });
  function_(reinterpret_cast<const void* const*>(arguments.inputs.data()),
            reinterpret_cast<void* const*>(arguments.outputs.data()), prepared.data(), arguments.workspace, begin, end);
}

}  // namespace attune
