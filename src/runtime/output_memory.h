// Memory of large outputs, used again once the caller has let go of them: the system would hand out and zero fresh
// pages for every run, which takes as long as writing the output.
#pragma once

#include "graph/tensor.h"

#include <memory>
#include <mutex>
#include <vector>

namespace attune {

class OutputMemory : public std::enable_shared_from_this<OutputMemory> {
 public:
  /// `most`: as many blocks as are kept while nobody uses them.
  explicit OutputMemory(size_t most) : most_(most) { free_.reserve(most + 1); }  // giving back must not fail

  /// A tensor with undefined contents. Its memory comes back here, or is freed where this is gone by then.
  Tensor take(DType dtype, const Dims& dims);

 private:
  struct Block {
    int64_t bytes = 0;
    std::shared_ptr<std::byte> memory;
  };
  Block find(int64_t bytes);
  void give_back(Block block);

  const size_t most_;
  std::mutex mutex_;
  std::vector<Block> free_;
};

}  // namespace attune
