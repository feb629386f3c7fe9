// Text for AMX tiles compiles on machines that cannot run it; what it computes is the conformance suite's, where tiles
// are.
#include "codegen/compile_text.h"
#include "codegen/cube/product.h"

namespace attune::cube {
namespace {

ProductShape convolution(int64_t rows, int64_t columns, int64_t depth) {
  ProductShape shape;
  shape.rows = rows;
  shape.columns = columns;
  shape.depth = depth;
  shape.src_stride = depth;
  shape.dst_stride = columns;
  shape.src = shape.dst = DType::bf16;
  return shape;
}

Epilogue bias_residual_and(EpilogueStep::Kind kind) {
  Epilogue epilogue;
  epilogue.operands = {{2, Reach::row, DType::bf16}, {3, Reach::full, DType::bf16}};
  for (const int input : {2, 3}) {
    EpilogueStep step;
    step.kind = EpilogueStep::Kind::add;
    step.input = input;
    epilogue.steps.push_back(step);
  }
  EpilogueStep last;
  last.kind = kind;
  epilogue.steps.push_back(last);
  return epilogue;
}

TEST(TileText, compiles_where_nothing_runs_it) {
  SKIP_WITHOUT_COMPILER();
  for (const auto kind : {EpilogueStep::Kind::relu, EpilogueStep::Kind::gelu_erf, EpilogueStep::Kind::swish})
    for (const bool packs : {true, false}) {
      const ProductShape shape = convolution(53, 70, packs ? 45 : 64);
      TileSchedule schedule;
      schedule.task_rows = 32;
      schedule.task_panels = 1;
      schedule.pack_src = packs;
      const auto object =
          testing::compile_text(tile_product_text("kernel", shape, schedule, bias_residual_and(kind)), Isa::amx);
      EXPECT_TRUE(object.ok()) << object.error;
    }
}

}  // namespace
}  // namespace attune::cube
