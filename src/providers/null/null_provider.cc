#include "providers/null/null_provider.h"

#include "space/space.h"

#include <algorithm>
#include <cstring>

namespace attune {
namespace {

// What a provider can vary goes into its configs, as text; here: how many bytes one task copies. The first is the
// default, which serves where nobody has measured; the second is the other extreme. What lies between is for a search.
constexpr std::string_view kChunkKey = "chunk_bytes";
constexpr int64_t kSmallestChunk = 1 << 10, kLargestChunk = 64 << 10;
constexpr int64_t kOfferedChunks[] = {kLargestChunk, kSmallestChunk};

Config chunk_config(int64_t chunk) { return {{std::string(kChunkKey), std::to_string(chunk)}}; }

// Operators whose output has the bytes of input 0 in the same order. Further inputs (the shape of Reshape, the axes of
// Squeeze) only decided the output's dims, which a workload states already.
constexpr std::string_view kCopies[] = {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"};

/// A kernel knows its workload only through what its constructor kept. It has no mutable members: several threads may
/// run it at once, each with buffers of its own. What one run has to keep lives in a KernelState.
class CopyKernel final : public Kernel {
 public:
  CopyKernel(int64_t bytes, int64_t chunk_bytes) : bytes_(bytes), chunk_bytes_(chunk_bytes) {}

  // The runtime may give us one buffer for both where nobody reads the input afterwards. Declaring it is a promise:
  // run() has to be right with one buffer and with two.
  int in_place_input() const override { return 0; }

  // Tasks are independent and may run in any order, on any thread. An empty tensor has none.
  int64_t task_count() const override { return (bytes_ + chunk_bytes_ - 1) / chunk_bytes_; }

  void run(const KernelArguments& arguments, int64_t begin, int64_t end) const override {
    const std::byte* source = arguments.inputs[0];
    std::byte* target = arguments.outputs[0];
    const int64_t first = begin * chunk_bytes_, last = std::min(end * chunk_bytes_, bytes_);
    if (source == target || first >= last) return;
    std::memcpy(target + first, source + first, static_cast<size_t>(last - first));
  }

 private:
  int64_t bytes_, chunk_bytes_;
};

/// Why the workload is not ours; nothing when it is. Checks go from the general to the particular, so that the reason a
/// person reads is the one that matters: no layout would make a copy of a convolution.
std::optional<Refusal> find_refusal(const Workload& workload) {
  if (!workload.domain.empty() || std::ranges::find(kCopies, workload.op) == std::end(kCopies))
    return refuse("the null provider only copies, and operator '{}' computes", workload.op);
  // Operands may be omitted, so has_input comes before input.
  if (!workload.has_input(0) || workload.outputs.size() != 1 || !workload.outputs[0])
    return refuse("a copy needs its first input and one output");
  const TensorSpec &source = workload.input(0), &target = workload.output(0);
  for (const TensorSpec* spec : {&source, &target})
    if (spec->layout != Layout::plain)
      return refuse("a copy of bytes keeps the order of elements only in plain layout, got {}", to_text(*spec));
  const auto bytes = storage_bytes(source);
  if (!bytes || bytes != storage_bytes(target))
    return refuse("{} and {} are not of one size", to_text(source), to_text(target));
  return std::nullopt;
}

}  // namespace

std::variant<Offer, Refusal> NullProvider::offer(const Workload& workload) const {
  if (auto refusal = find_refusal(workload)) return *refusal;
  Offer offer;
  for (const int64_t chunk : kOfferedChunks) offer.configs.push_back(chunk_config(chunk));
  return offer;
}

// A provider with few configs does without this: its space is the list of its offer. Constraints between parameters
// would be stated here with space.require (docs/spaces.md).
Space NullProvider::space(const Workload& workload) const {
  if (const auto refusal = find_refusal(workload)) throw UserError("{}", refusal->reason);
  Space space;
  space.power_of_two(std::string(kChunkKey), kSmallestChunk, kLargestChunk);
  space.set_default(chunk_config(kLargestChunk));
  return space.build();
}

std::unique_ptr<Kernel> NullProvider::build(const Workload& workload, const Config& config) const {
  // Configs come from files as well as from the space, so what is not in it is a mistake of the user's.
  if (const std::string problem = space(workload).why_invalid(config); !problem.empty())
    throw UserError("the null provider cannot build '{}': {}", to_text(config), problem);
  return std::make_unique<CopyKernel>(storage_bytes(workload.input(0)).value(), std::stoll(config.begin()->second));
}

}  // namespace attune
