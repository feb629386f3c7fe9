#include "graph/tensor.h"

#include <gtest/gtest.h>

#include <cstring>

namespace attune {
namespace {

/// Floats that begin one byte into their memory.
struct Crooked {
  std::shared_ptr<std::vector<std::byte>> memory = std::make_shared<std::vector<std::byte>>(4 * 8 + 1);
  Crooked() {
    for (int i = 0; i < 8; ++i) {
      const float value = static_cast<float>(i);
      std::memcpy(memory->data() + 1 + 4 * i, &value, 4);
    }
  }
  Tensor tensor() const {
    return Tensor::borrow_unaligned(DType::f32, {8}, std::span<const std::byte>(*memory).subspan(1), memory, nullptr);
  }
};

TEST(Tensor, unaligned_contents_are_copied_when_looked_at) {
  const Tensor tensor = Crooked().tensor();
  EXPECT_FALSE(tensor.empty());
  EXPECT_EQ(tensor.data<float>()[7], 7.0F);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.bytes()) % 64, 0u);
}

TEST(Tensor, released_contents_come_back) {
  const Tensor tensor = Crooked().tensor();
  EXPECT_EQ(tensor.data<float>()[3], 3.0F);
  tensor.release_pages();
  EXPECT_EQ(tensor.data<float>()[3], 3.0F);
}

TEST(Tensor, held_contents_stay) {
  const Tensor tensor = Crooked().tensor();
  const Tensor held = tensor.held();
  const float* place = held.data<float>();
  tensor.release_pages();
  EXPECT_EQ(held.data<float>(), place);
  EXPECT_EQ(place[5], 5.0F);
  EXPECT_EQ(tensor.reshaped({2, 4}).data<float>()[6], 6.0F);
  EXPECT_EQ(tensor.clone().data<float>()[2], 2.0F);
}

TEST(Tensor, computed_contents_exist_while_somebody_needs_them) {
  int computed = 0;
  const Tensor tensor = Tensor::computed(DType::i32, {3}, [&](std::byte* bytes) {
    ++computed;
    for (int i = 0; i < 3; ++i) reinterpret_cast<int32_t*>(bytes)[i] = 10 * i;
  });
  EXPECT_TRUE(tensor.reloadable());
  EXPECT_EQ(computed, 0);
  EXPECT_EQ(tensor.data<int32_t>()[2], 20);
  EXPECT_EQ(tensor.data<int32_t>()[1], 10);
  EXPECT_EQ(computed, 1);
  tensor.release_pages();
  EXPECT_EQ(tensor.data<int32_t>()[2], 20);
  EXPECT_EQ(computed, 2);
}

TEST(Tensor, lasting_ones_are_zeroed_aligned_and_writable) {
  for (const int64_t count : {int64_t{3}, int64_t{1} << 20, (int64_t{3} << 20) + 1}) {
    Tensor tensor = Tensor::lasting(DType::f32, {count});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.bytes()) % 64, 0u);
    EXPECT_EQ(tensor.count(), count);
    EXPECT_EQ(tensor.data<float>()[0], 0.0F);
    EXPECT_EQ(tensor.data<float>()[count - 1], 0.0F);
    tensor.mutable_data<float>()[count - 1] = 2.0F;
    EXPECT_EQ(Tensor(tensor).data<float>()[count - 1], 2.0F);
  }
}

TEST(Tensor, releasing_own_memory_does_nothing) {
  const Tensor tensor = Tensor::vector(std::vector<int64_t>{1, 2, 3});
  EXPECT_FALSE(tensor.reloadable());
  tensor.release_pages();
  EXPECT_EQ(tensor.data<int64_t>()[2], 3);
}

}  // namespace
}  // namespace attune
