#include "providers/generated/vector_operands.h"

#include "device/cpu/cpu_info.h"

#include <algorithm>

namespace attune::generated {
namespace {

int64_t block_of(Layout layout) { return layout == Layout::nchw8c ? 8 : layout == Layout::nchw16c ? 16 : 1; }

/// Strides of the dims in ONNX order; of channels in blocks, those of the blocks, whose members are next to each other.
std::vector<int64_t> strides_of(const TensorSpec& spec) {
  const size_t rank = spec.dims.size();
  std::vector<int64_t> strides(rank, 0);
  const int64_t block = block_of(spec.layout);
  int64_t stride = 1;
  const bool channels_last = spec.layout == Layout::nhwc && rank > 1;
  if (channels_last) strides[1] = 1, stride = spec.dims[1];
  if (block > 1) stride = block;
  for (size_t i = rank; i-- > 0;) {
    if (channels_last && i == 1) continue;
    strides[i] = stride;
    stride *= i == 1 ? spec.dims[i] / block : spec.dims[i];
  }
  return strides;
}

}  // namespace

std::optional<codegen::Element> element_of(DType dtype) {
  if (dtype == DType::f32) return codegen::Element::f32;
  if (dtype == DType::bf16) return codegen::Element::bf16;
  return std::nullopt;
}

AlignedOperand align_right(const TensorSpec& spec, size_t rank) {
  AlignedOperand operand{spec, Dims(rank, 1)};
  std::copy(spec.dims.rbegin(), spec.dims.rend(), operand.aligned.rbegin());
  return operand;
}

AlignedOperand align_channels(const TensorSpec& spec, size_t rank) {
  AlignedOperand operand{spec, Dims(rank, 1)};
  operand.aligned.at(1) = spec.dims.at(0);
  return operand;
}

std::variant<codegen::LoopNest, Refusal> make_nest(const std::vector<AlignedOperand>& operands,
                                                   const TensorSpec& output) {
  std::vector<AlignedOperand> all = operands;
  all.push_back({output, output.dims});
  const size_t rank = output.dims.size();
  int64_t block = 1;
  for (const AlignedOperand& operand : all) {
    const int64_t own = block_of(operand.spec.layout);
    if (operand.spec.layout != Layout::plain && operand.spec.dims.size() != rank)
      return refuse("{} has a layout and another rank than the output", to_text(operand.spec));
    if (own == 1) continue;
    if (block != 1 && own != block) return refuse("operands in blocks of {} and {} channels", block, own);
    if (rank < 2 || operand.spec.dims[1] % own != 0)
      return refuse("the channels of {} do not fill blocks of {}", to_text(operand.spec), own);
    block = own;
  }
  codegen::LoopNest nest;
  for (size_t i = 0; i < rank; ++i) {
    codegen::Loop loop{output.dims[i], {}}, within{block, {}};
    for (const AlignedOperand& operand : all) {
      const auto strides = strides_of(operand.spec);
      // Dims of an operand that are not its own are all 1; its own stand at the positions where it was lined up.
      int64_t stride = 0;
      if (operand.aligned[i] != 1) {
        const size_t own_rank = operand.spec.dims.size();
        stride = own_rank == rank ? strides[i] : own_rank == 1 ? strides[0] : strides[i - (rank - own_rank)];
      }
      const bool in_blocks = block_of(operand.spec.layout) > 1;
      within.strides.push_back(in_blocks ? 1 : stride);
      loop.strides.push_back(i == 1 && block > 1 && !in_blocks ? stride * block : stride);
    }
    if (i == 1 && block > 1) loop.extent /= block;
    nest.loops.push_back(loop);
    if (i == 1 && block > 1) nest.loops.push_back(within);
  }
  if (nest.loops.empty()) nest.loops.push_back({1, std::vector<int64_t>(all.size(), 1)});
  return nest;
}

bool exceeds_caches(int64_t bytes) {
  constexpr int64_t kSecondLevelCaches = 8;
  const auto second = data_cache(cpu_info(), 2);
  return bytes > kSecondLevelCaches * (second ? second->size_bytes : 1 << 20);
}

}  // namespace attune::generated
