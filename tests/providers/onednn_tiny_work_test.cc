#include "base/thread_count_scope.h"
#include "providers/onednn/tiny_work.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

Workload workload(const char* op, std::vector<Dims> inputs, Dims output) {
  Workload result;
  result.op = op;
  result.version = 17;
  for (Dims& dims : inputs) result.inputs.push_back(TensorSpec{DType::f32, std::move(dims), Layout::plain, false});
  result.outputs.push_back(TensorSpec{DType::f32, std::move(output), Layout::plain, false});
  return result;
}

TEST(OnednnTinyWork, stays_on_one_thread_and_all_else_takes_them_all) {
  const ThreadCountScope threads(4);
  EXPECT_EQ(onednn::threads_for(workload("Relu", {{1, 8}}, {1, 8})), 1);
  EXPECT_EQ(onednn::threads_for(workload("Add", {{1, 8}, {1, 8}}, {1, 8})), 1);
  EXPECT_EQ(onednn::threads_for(workload("MatMul", {{1, 8}, {8, 8}}, {1, 8})), 1);
  EXPECT_EQ(onednn::threads_for(workload("Relu", {{1, 1 << 20}}, {1, 1 << 20})), 4);
  // Few bytes, many multiplications.
  EXPECT_EQ(onednn::threads_for(workload("MatMul", {{64, 64}, {64, 64}}, {64, 64})), 4);
  EXPECT_EQ(onednn::threads_for(workload("Conv", {{1, 16, 12, 12}, {16, 16, 3, 3}}, {1, 16, 10, 10})), 4);
}

}  // namespace
}  // namespace attune
