// Pooling over regions of interest: MaxRoiPool and RoiAlign.
#include "base/parallel.h"
#include "ops/dispatch.h"
#include "ops/families.h"
#include "ops/region_align.h"
#include "ops/wide_tensor.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attune {
namespace {

std::vector<int64_t> read_pooled_shape(const OpContext& context) {
  const auto& pooled = context.attr_ints("pooled_shape");
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1 || pooled[0] > INT32_MAX || pooled[1] > INT32_MAX)
    context.fail("attribute 'pooled_shape' is {}, expected two positive values", to_text(pooled));
  return pooled;
}

void infer_max_roi_pool(InferContext& context) {
  const auto pooled = read_pooled_shape(context);
  const auto &src = context.shape(0), &rois = context.shape(1);
  if (context.dtype(1) != context.dtype(0) && context.dtype(1) != DType::undefined)
    context.fail("input and rois have different dtypes");
  if (src && src->size() != 4) context.fail("input has rank {}, expected (N, C, H, W)", src->size());
  if (rois && (rois->size() != 2 || ((*rois)[1].is_known() && (*rois)[1].value() != 5)))
    context.fail("rois are {}, expected (count, 5)", to_text(*rois));
  context.set_output(0, context.dtype(0),
                     Shape{rois ? (*rois)[0] : Dim::unknown(), src ? (*src)[1] : Dim::unknown(), pooled[0], pooled[1]});
}

/// One axis of a region in whole elements.
struct Span {
  int64_t start = 0;
  int64_t length = 1;

  struct Range {
    int64_t begin, end;
  };
  /// The elements of bin `i` of `bins`, cut at the image.
  Range bin(int64_t i, int64_t bins, int64_t extent) const {
    const double size = static_cast<double>(length) / static_cast<double>(bins);
    const auto begin = static_cast<int64_t>(std::floor(static_cast<double>(i) * size)) + start;
    const auto end = static_cast<int64_t>(std::ceil(static_cast<double>(i + 1) * size)) + start;
    return {std::clamp<int64_t>(begin, 0, extent), std::clamp<int64_t>(end, 0, extent)};
  }
};

Span read_span(const OpContext& context, double first, double last, double scale) {
  const double start = std::round(first * scale), end = std::round(last * scale);
  constexpr double kMost = 1e15;
  if (!(std::fabs(start) < kMost && std::fabs(end) < kMost))
    context.fail("a region reaches from {} to {}", first, last);
  return {static_cast<int64_t>(start), std::max<int64_t>(1, static_cast<int64_t>(end - start) + 1)};
}

template <class T>
void max_roi_pool(const OpContext& context, const Tensor& src, const Tensor& rois, double scale, Tensor& dst) {
  const int64_t channels = src.dim(1), height = src.dim(2), width = src.dim(3);
  const int64_t pooled_h = dst.dim(2), pooled_w = dst.dim(3);
  const T* regions = rois.data<T>();
  const T* in = src.data<T>();
  T* out = dst.mutable_data<T>();
  for (int64_t n = 0; n < rois.dim(0); ++n) {
    const T* region = regions + n * 5;
    const auto image = static_cast<double>(region[0]);
    if (!(image >= 0 && image < static_cast<double>(src.dim(0))))
      context.fail("region {} is of image {}, but there are {}", n, image, src.dim(0));
    const auto plane = static_cast<int64_t>(image) * channels;
    const Span x = read_span(context, static_cast<double>(region[1]), static_cast<double>(region[3]), scale);
    const Span y = read_span(context, static_cast<double>(region[2]), static_cast<double>(region[4]), scale);
    parallel_for(channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        const T* from = in + (plane + c) * height * width;
        T* to = out + (n * channels + c) * pooled_h * pooled_w;
        for (int64_t py = 0; py < pooled_h; ++py) {
          for (int64_t px = 0; px < pooled_w; ++px) {
            const Span::Range rows = y.bin(py, pooled_h, height), columns = x.bin(px, pooled_w, width);
            const bool empty = rows.begin >= rows.end || columns.begin >= columns.end;
            T best = empty ? T{0} : -std::numeric_limits<T>::infinity();
            for (int64_t row = rows.begin; row < rows.end; ++row)
              for (int64_t column = columns.begin; column < columns.end; ++column) {
                const T value = from[row * width + column];
                if (value > best || std::isnan(value)) best = value;
              }
            to[py * pooled_w + px] = best;
          }
        }
      }
    });
  }
}

void run_max_roi_pool(KernelContext& context) {
  Tensor& output = context.output(0);
  if (output.count() == 0) return;
  const Tensor src = widened(context.input(0)), rois = widened(context.input(1));
  Tensor dst = wide_output(output);
  const auto scale = static_cast<double>(context.attr_float("spatial_scale", 1.0f));
  dispatch<TypeList<float, double>>(dst.dtype(), context,
                                    [&]<class T>() { max_roi_pool<T>(context, src, rois, scale, dst); });
  narrow(dst, output);
}

double region_flops(const CostContext& context) { return context.output_elements(0) * 16; }  // a guess: data decide

const OpDef kOps[] = {
    {.domain = "",
     .name = "MaxRoiPool",
     .since = 1,
     .inputs = {2, 2},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_max_roi_pool,
     .kernel = run_max_roi_pool,
     .flops = region_flops},
    {.domain = "",
     .name = "RoiAlign",
     .since = 10,
     .inputs = {3, 3},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_roi_align,
     .kernel = run_roi_align,
     .flops = region_flops},
};

}  // namespace

std::span<const OpDef> region_ops() { return kOps; }

}  // namespace attune
