// Text for AMX tiles compiles on machines that cannot run it; what it computes is the conformance suite's, where tiles
// are.
#include "codegen/compile_text.h"
#include "codegen/cube/band.h"
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

TEST(TileText, of_bands_compiles_where_nothing_runs_it) {
  SKIP_WITHOUT_COMPILER();
  for (const bool joined : {false, true}) {
    BandShape shape;
    shape.images = 2;
    shape.channels = shape.band_channels = 64;
    shape.down = {.in = 9, .out = 9, .kernel = 3, .stride = 1, .dilation = 1, .pad = 1};
    shape.across = {.in = 7, .out = 7, .kernel = 3, .stride = 1, .dilation = 1, .pad = 1};
    shape.product = convolution(9 * 7, 70, 64);
    shape.product.taps = 9;
    BandSchedule schedule;
    schedule.tile_pixels = joined ? 16 : 7;
    schedule.joined = joined;
    schedule.band_rows = 5;
    schedule.task_panels = 2;
    const auto object = testing::compile_text(
        band_text("kernel", shape, schedule, bias_residual_and(EpilogueStep::Kind::swish)), Isa::amx);
    EXPECT_TRUE(object.ok()) << object.error;
  }
}

}  // namespace
}  // namespace attune::cube
