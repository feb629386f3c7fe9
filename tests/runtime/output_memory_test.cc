#include "runtime/output_memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <optional>
#include <thread>

namespace attune {
namespace {

const Dims kLarge{3, 1 << 20};  // f32: beyond a large page

TEST(OutputMemory, is_used_again_once_the_tensor_is_gone) {
  const auto memory = std::make_shared<OutputMemory>(1);
  auto first = std::optional(memory->take(DType::f32, kLarge));
  const std::byte* place = first->bytes();
  std::optional copy = first->reshaped({1 << 20, 3});
  first.reset();
  EXPECT_NE(memory->take(DType::f32, kLarge).bytes(), place) << "a copy still reads it";
  copy.reset();
  EXPECT_EQ(memory->take(DType::f32, kLarge).bytes(), place);
}

TEST(OutputMemory, keeps_no_more_than_asked) {
  const auto memory = std::make_shared<OutputMemory>(1);
  const std::byte* last = nullptr;
  {
    const Tensor one = memory->take(DType::f32, kLarge), other = memory->take(DType::f32, kLarge);
    last = one.bytes();  // destroyed last, so given back last
  }
  const Tensor again = memory->take(DType::f32, kLarge);
  EXPECT_EQ(again.bytes(), last);
}

TEST(OutputMemory, gives_another_block_for_another_size) {
  const auto memory = std::make_shared<OutputMemory>(2);
  static_cast<void>(memory->take(DType::f32, kLarge));
  Tensor other = memory->take(DType::f64, kLarge);
  EXPECT_EQ(other.size_bytes(), 8 * element_count(kLarge));
  std::memset(other.mutable_bytes(), 1, static_cast<size_t>(other.size_bytes()));
}

TEST(OutputMemory, may_be_gone_before_its_tensors) {
  auto memory = std::make_shared<OutputMemory>(1);
  Tensor tensor = memory->take(DType::f32, kLarge);
  memory.reset();
  tensor.mutable_data<float>()[element_count(kLarge) - 1] = 3;
  EXPECT_EQ(tensor.data<float>()[element_count(kLarge) - 1], 3);
}

TEST(OutputMemory, serves_threads_that_let_go_of_what_others_took) {
  const auto memory = std::make_shared<OutputMemory>(2);
  constexpr int kThreads = 4, kRounds = 50;
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < kRounds; ++round) {
        Tensor mine = memory->take(DType::f32, kLarge);
        mine.mutable_data<float>()[0] = static_cast<float>(i);
        const Tensor shared = mine;
        mine = Tensor();
        if (shared.data<float>()[0] != static_cast<float>(i)) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(OutputMemory, leaves_small_tensors_to_the_allocator) {
  const auto memory = std::make_shared<OutputMemory>(1);
  Tensor tensor = memory->take(DType::f32, {2, 3});
  EXPECT_EQ(tensor.dims(), (Dims{2, 3}));
  tensor.mutable_data<float>()[5] = 1;
}

}  // namespace
}  // namespace attune
