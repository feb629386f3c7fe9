#include "runtime/output_memory.h"

#include "base/large_pages.h"
#include "base/memory.h"

#include <algorithm>

namespace attune {

Tensor OutputMemory::take(DType dtype, const Dims& dims) {
  const int64_t bytes = byte_size(dtype, element_count(dims)).value_or(0);
  if (bytes < static_cast<int64_t>(kLargePage)) return Tensor::allocate(dtype, dims);
  Block block = find(bytes);
  if (block.memory == nullptr) {
    check_memory(bytes, [&] { return fmt::format("an output of {} {}", dtype_name(dtype), to_text(dims)); });
    block = {bytes, allocate_large(static_cast<size_t>(bytes))};
    if (block.memory == nullptr)
      throw UserError("no memory for an output of {} {} ({} bytes)", dtype_name(dtype), to_text(dims), bytes);
  }
  std::byte* data = block.memory.get();
  const std::shared_ptr<std::byte> lent(data, [block, home = weak_from_this()](std::byte*) {
    if (const auto here = home.lock()) here->give_back(block);
  });
  return Tensor::adopt(dtype, dims, lent);
}

OutputMemory::Block OutputMemory::find(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(free_, bytes, &Block::bytes);
  if (found == free_.end()) return {};
  Block block = std::move(*found);
  free_.erase(found);
  return block;
}

void OutputMemory::give_back(Block block) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(block));
  if (free_.size() > most_) free_.erase(free_.begin());  // of another size, or one too many
}

}  // namespace attune
