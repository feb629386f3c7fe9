#include "providers/generated/compiled_kernel.h"

#include "base/hash.h"
#include "base/parallel.h"
#include "base/spin_barrier.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

namespace attune {

namespace {

uint64_t hash_of(const GeneratedSource& source) { return hash_bytes(std::as_bytes(std::span(source.text))); }

}  // namespace

CompiledKernel::CompiledKernel(GeneratedKernel kernel, std::span<const std::byte> object)
    : kernel_(std::move(kernel)), artifact_(sizeof(uint64_t) + object.size()), loaded_(LoadedObject::load(object)) {
  const uint64_t hash = hash_of(kernel_.source);
  std::memcpy(artifact_.data(), &hash, sizeof hash);
  std::ranges::copy(object, artifact_.begin() + sizeof hash);
  function_ = reinterpret_cast<GeneratedFunction>(reinterpret_cast<uintptr_t>(loaded_->function(kernel_.source.entry)));
}

std::unique_ptr<Kernel> CompiledKernel::from_artifact(GeneratedKernel kernel, std::span<const std::byte> artifact) {
  uint64_t hash = 0;
  if (artifact.size() < sizeof hash) throw UserError("the object code of a generated kernel is truncated");
  std::memcpy(&hash, artifact.data(), sizeof hash);
  if (hash != hash_of(kernel.source)) throw UserError("the object code was made from another text than the kernel's");
  return std::make_unique<CompiledKernel>(std::move(kernel), artifact.subspan(sizeof hash));
}

std::vector<Tensor> CompiledKernel::prepare(std::span<const Tensor* const> constants) const {
  return kernel_.prepare ? kernel_.prepare(constants) : std::vector<Tensor>{};
}

bool CompiledKernel::takes_over(int i) const {
  return std::ranges::find(kernel_.taken_over, i) != kernel_.taken_over.end();
}

void CompiledKernel::run(const KernelArguments& arguments, int64_t begin, int64_t end) const {
  if (begin >= end) return;
  if (kernel_.check) kernel_.check(arguments);
  constexpr size_t kMostPrepared = 64;
  std::array<const void*, kMostPrepared> prepared{};
  if (arguments.prepared.size() > kMostPrepared)
    throw InternalError("a generated kernel packs more than {} tensors", kMostPrepared);
  std::ranges::transform(arguments.prepared, prepared.begin(), [](const Tensor& tensor) { return tensor.bytes(); });
  if (kernel_.team) return run_by_team(arguments, prepared.data());
  function_(reinterpret_cast<const void* const*>(arguments.inputs.data()),
            reinterpret_cast<void* const*>(arguments.outputs.data()), prepared.data(), arguments.workspace, begin, end);
}

void CompiledKernel::run_by_team(const KernelArguments& arguments, const void* const* prepared) const {
  const KernelTeam& team = *kernel_.team;
  const auto meet = [](void* barrier) { static_cast<SpinBarrier*>(barrier)->wait(); };
  std::deque<SpinBarrier> barriers;  // they cannot be moved
  auto* header = reinterpret_cast<TeamBarrier*>(arguments.workspace);
  for (int group = 0; group < team.groups; ++group) header[group] = {meet, &barriers.emplace_back(team.members)};
  run_team(std::min(team.groups * team.members, thread_count()), [&](int rank, int size) {
    function_(reinterpret_cast<const void* const*>(arguments.inputs.data()),
              reinterpret_cast<void* const*>(arguments.outputs.data()), prepared, arguments.workspace, rank, size);
  });
}

}  // namespace attune
