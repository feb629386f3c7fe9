#include "ops/conv_transpose_col2im.h"

#include "base/parallel.h"
#include "ops/col2im.h"
#include "ops/dispatch.h"
#include "ops/infer_parts.h"
#include "ops/wide_tensor.h"

#include <memory>

namespace attune {
namespace {

using SumTypes = TypeList<float, double, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t>;

Window read_block_window(const OpContext& context, const std::vector<int64_t>& block) {
  Window window = read_window(context, block);
  window.auto_pad = AutoPad::notset;
  window.ceil_mode = false;
  return window;
}

template <class T> void fold(const std::vector<WindowAxis>& axes, int64_t planes, int64_t taps, int64_t windows,
                             int64_t plane_size, const T* src, T* dst) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  const int64_t work = std::max<int64_t>(1, std::max(taps * windows, plane_size));
  parallel_for(planes, std::max<int64_t>(1, (1 << 14) / work), [&](int64_t begin, int64_t end) {
    const auto image = std::make_unique_for_overwrite<Sum[]>(static_cast<size_t>(plane_size));
    for (int64_t plane = begin; plane < end; ++plane) {
      std::fill_n(image.get(), plane_size, Sum{});
      add_columns(axes, src + plane * taps * windows, windows, image.get());
      for (int64_t i = 0; i < plane_size; ++i)
        dst[plane * plane_size + i] = static_cast<T>(image[static_cast<size_t>(i)]);
    }
  });
}

}  // namespace

void infer_col2im(InferContext& context) {
  const auto& src = context.shape(0);
  if (src && src->size() != 3) context.fail("input has rank {}, expected (N, C*block, L)", src->size());
  const auto image = int_content(context, 1);
  const auto block = int_values(context, 2);
  if (image && block && image->size() != block->size())
    context.fail("image_shape has {} values, block_shape {}", image->size(), block->size());
  if (!image) return context.set_output(0, context.dtype(0), std::nullopt);
  if (image->empty()) context.fail("image_shape is empty");
  Shape result{src ? (*src)[0] : Dim::unknown(), Dim::unknown()};
  for (const Dim& dim : *image) {
    if (dim.is_known() && dim.value() < 0) context.fail("image_shape holds {}", dim.value());
    result.push_back(dim);
  }
  if (block) {
    const Window window = read_block_window(context, *block);
    const auto taps = checked_count(*block);
    if (!taps) context.fail("block_shape {} overflows", to_text(*block));
    const Shape windows = window_output(context, window, *image);
    if (src) {
      result[1] = (*src)[1].floor_div(Dim(*taps));
      if ((*src)[1].is_known() && (*src)[1].value() % *taps != 0)
        context.fail("{} rows of columns are not a multiple of the block's {} elements", (*src)[1].value(), *taps);
      const auto counts = concrete(windows);
      const auto total = counts ? checked_count(*counts) : std::nullopt;
      if (counts && (*src)[2].is_known() && total != (*src)[2].value())
        context.fail("the image has {} blocks, but the input has {} columns", to_text(*counts), (*src)[2].value());
    }
  }
  context.set_output(0, context.dtype(0), std::move(result));
}

void run_col2im(KernelContext& context) {
  Tensor& output = context.output(0);
  if (output.count() == 0) return;
  const Tensor src = widened(context.input(0));
  Tensor dst = wide_output(output);
  const std::vector<int64_t> block = context.ints(2);
  const auto axes = window_axes(context, read_block_window(context, block), std::span(dst.dims()).subspan(2));
  const int64_t planes = dst.dim(0) * dst.dim(1);
  dispatch<SumTypes>(dst.dtype(), context, [&]<class T>() {
    fold<T>(axes, planes, element_count(block), src.dim(2), dst.count() / planes, src.data<T>(), dst.mutable_data<T>());
  });
  narrow(dst, output);
}

double col2im_flops(const CostContext& context) { return context.input_elements(0); }

}  // namespace attune
