// GridSample and AffineGrid.
#include "base/parallel.h"
#include "ops/convert.h"
#include "ops/dispatch.h"
#include "ops/families.h"
#include "ops/infer_parts.h"
#include "ops/sample_taps.h"
#include "ops/wide_tensor.h"

#include <algorithm>

namespace attune {
namespace {

constexpr size_t kMostSpatialAxes = 6;  // 4^6 taps for one output of a cubic sample

void check_equal(const OpContext& context, std::string_view what, const Dim& actual, const Dim& expected) {
  if (actual.is_known() && expected.is_known() && actual.value() != expected.value())
    context.fail("{} is {}, expected {}", what, actual.value(), expected.value());
}

void infer_grid_sample(InferContext& context) {
  read_sample_attributes(context);
  const auto &src = context.shape(0), &grid = context.shape(1);
  if (src && (src->size() < 3 || src->size() > kMostSpatialAxes + 2))
    context.fail("input has rank {}, expected (N, C, spatial…) of rank 3 to {}", src->size(), kMostSpatialAxes + 2);
  if (src && grid) {
    if (grid->size() != src->size()) context.fail("input has rank {}, grid has rank {}", src->size(), grid->size());
    check_equal(context, "the last dim of the grid", grid->back(), std::ssize(*src) - 2);
    check_equal(context, "the batch of the grid", (*grid)[0], (*src)[0]);
  }
  const auto& known = src ? src : grid;
  if (!known) return context.set_output(0, context.dtype(0), std::nullopt);
  Shape result(known->size());
  if (src) result[0] = (*src)[0], result[1] = (*src)[1];
  if (grid)
    for (size_t i = 2; i < result.size() && i <= grid->size(); ++i) result[i] = (*grid)[i - 1];
  context.set_output(0, context.dtype(0), std::move(result));
}

template <class T, class G> void sample_image(const SampleAttributes& attributes, const Dims& spatial, int64_t channels,
                                              int64_t out_size, const T* src, const G* grid, T* dst, int64_t begin,
                                              int64_t end) {
  const int64_t in_size = element_count(spatial), rank = std::ssize(spatial);
  SampleTaps taps(attributes, spatial);
  for (int64_t o = begin; o < end; ++o) {
    taps.locate(grid + o * rank);
    const auto offsets = taps.offsets();
    const auto weights = taps.weights();
    for (int64_t c = 0; c < channels; ++c) {
      const T* from = src + c * in_size;
      T& to = dst[c * out_size + o];
      if (attributes.mode == SampleMode::nearest) {
        to = offsets.empty() ? T{} : from[offsets[0]];
        continue;
      }
      double sum = 0;
      for (size_t i = 0; i < offsets.size(); ++i) sum += weights[i] * static_cast<double>(from[offsets[i]]);
      if constexpr (std::is_integral_v<T>)
        to = to_integer<T>(sum);
      else
        to = static_cast<T>(sum);
    }
  }
}

void run_grid_sample(KernelContext& context) {
  Tensor& output = context.output(0);
  if (output.count() == 0) return;
  const Tensor src = widened(context.input(0)), grid = widened(context.input(1));
  Tensor dst = wide_output(output);
  const SampleAttributes attributes = read_sample_attributes(context);
  const Dims spatial(src.dims().begin() + 2, src.dims().end());
  if (src.count() == 0) context.fail("an empty image of {} cannot be sampled", to_text(src.dims()));
  const int64_t channels = src.dim(1), planes = src.dim(0) * channels;
  const int64_t in_size = src.count() / planes, out_size = dst.count() / planes;
  using ImageTypes = TypeList<float, double, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t>;
  dispatch<ImageTypes>(dst.dtype(), context, [&]<class T>() {
    dispatch<TypeList<float, double>>(grid.dtype(), context, [&]<class G>() {
      const T* in = src.data<T>();
      const G* positions = grid.data<G>();
      T* out = dst.mutable_data<T>();
      for (int64_t n = 0; n < src.dim(0); ++n)
        parallel_for(out_size, std::max<int64_t>(1, (1 << 12) / channels), [&](int64_t begin, int64_t end) {
          sample_image<T, G>(attributes, spatial, channels, out_size, in + n * channels * in_size,
                             positions + n * out_size * std::ssize(spatial), out + n * channels * out_size, begin, end);
        });
    });
  });
  narrow(dst, output);
}

double grid_sample_flops(const CostContext& context) {
  const std::string mode = context.attr_string("mode", "linear");
  if (mode == "nearest") return 0;
  const double taps = mode == "cubic" || mode == "bicubic" ? 4 : 2;
  double all = 2;
  for (size_t i = 2; i < context.input_dims(0).size(); ++i) all *= taps;
  return context.output_elements(0) * all;
}

void infer_affine_grid(InferContext& context) {
  const auto& theta = context.shape(0);
  if (theta && theta->size() != 3) context.fail("theta has rank {}, expected (N, 2, 3) or (N, 3, 4)", theta->size());
  const auto size = int_content(context, 1);
  if (!size) {
    if (theta && (*theta)[1].is_known() && (*theta)[1].value() >= 2 && (*theta)[1].value() <= 3)
      return context.set_output(0, context.dtype(0), Shape(static_cast<size_t>((*theta)[1].value()) + 2));
    return context.set_output(0, context.dtype(0), std::nullopt);
  }
  if (size->size() != 4 && size->size() != 5)
    context.fail("size has {} values, expected (N, C, H, W) or (N, C, D, H, W)", size->size());
  const int64_t rank = std::ssize(*size) - 2;
  if (theta) {
    check_equal(context, "dim 0 of theta", (*theta)[0], (*size)[0]);
    check_equal(context, "dim 1 of theta", (*theta)[1], rank);
    check_equal(context, "dim 2 of theta", (*theta)[2], rank + 1);
  }
  Shape result{(*size)[0]};
  for (size_t i = 2; i < size->size(); ++i) {
    if ((*size)[i].is_known() && (*size)[i].value() < 0) context.fail("size holds {}", (*size)[i].value());
    result.push_back((*size)[i]);
  }
  result.emplace_back(rank);
  context.set_output(0, context.dtype(0), std::move(result));
}

/// Coordinate of element i of an axis in [-1, 1].
double normalized(int64_t i, int64_t extent, bool align_corners) {
  if (!align_corners) return (2.0 * static_cast<double>(i) + 1.0) / static_cast<double>(extent) - 1.0;
  return extent > 1 ? 2.0 * static_cast<double>(i) / static_cast<double>(extent - 1) - 1.0 : -1.0;
}

template <class T> void affine_grid(const Tensor& theta, bool align_corners, const Dims& dims, T* dst) {
  const int64_t rank = dims.back();
  const Dims spatial(dims.begin() + 1, dims.end() - 1);
  const int64_t size = element_count(spatial);
  const T* matrices = theta.data<T>();
  parallel_for(dims[0] * size, 1 << 10, [&](int64_t begin, int64_t end) {
    std::vector<double> point(static_cast<size_t>(rank) + 1, 1.0);  // x first, then the constant 1
    for (int64_t at = begin; at < end; ++at) {
      const T* matrix = matrices + at / size * rank * (rank + 1);
      int64_t rest = at % size;
      for (int64_t axis = rank; axis-- > 0;) {
        const int64_t extent = spatial[static_cast<size_t>(axis)];
        point[static_cast<size_t>(rank - 1 - axis)] = normalized(rest % extent, extent, align_corners);
        rest /= extent;
      }
      for (int64_t row = 0; row < rank; ++row) {
        double sum = 0;
        for (int64_t i = 0; i <= rank; ++i)
          sum += static_cast<double>(matrix[row * (rank + 1) + i]) * point[static_cast<size_t>(i)];
        dst[at * rank + row] = static_cast<T>(sum);
      }
    }
  });
}

void run_affine_grid(KernelContext& context) {
  Tensor& output = context.output(0);
  if (output.count() == 0) return;
  const Tensor theta = widened(context.input(0));
  Tensor dst = wide_output(output);
  const bool align_corners = context.attr_int("align_corners", 0) != 0;
  dispatch<TypeList<float, double>>(dst.dtype(), context, [&]<class T>() {
    affine_grid<T>(theta, align_corners, dst.dims(), dst.mutable_data<T>());
  });
  narrow(dst, output);
}

double affine_grid_flops(const CostContext& context) {
  const Dims theta = context.input_dims(0);
  return theta.size() == 3 ? 2.0 * context.output_elements(0) * static_cast<double>(theta[2]) : 0;
}

const OpDef kOps[] = {
    {.domain = "",
     .name = "GridSample",
     .since = 16,
     .inputs = {2, 2},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_grid_sample,
     .kernel = run_grid_sample,
     .flops = grid_sample_flops},
    {.domain = "",
     .name = "AffineGrid",
     .since = 20,
     .inputs = {2, 2},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_affine_grid,
     .kernel = run_affine_grid,
     .flops = affine_grid_flops},
};

}  // namespace

std::span<const OpDef> sample_ops() { return kOps; }

}  // namespace attune
