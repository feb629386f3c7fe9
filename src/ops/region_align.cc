#include "ops/region_align.h"

#include "base/parallel.h"
#include "ops/dispatch.h"
#include "ops/wide_tensor.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

constexpr double kMostSamples = 1 << 20;  // for one axis of one bin; only a broken region needs more

constexpr double kMostAxisSamples = 1 << 26;

struct AlignAttributes {
  bool half_pixel = true;
  bool take_max = false;
  int64_t height = 1, width = 1;
  int64_t sampling_ratio = 0;
  double scale = 1;
};

AlignAttributes read_attributes(const OpContext& context) {
  AlignAttributes attributes;
  const std::string mode = context.attr_string("mode", "avg");
  if (mode != "avg" && mode != "max") context.fail("mode is '{}', expected avg or max", mode);
  attributes.take_max = mode == "max";
  const std::string coordinates = context.attr_string("coordinate_transformation_mode",
                                                      context.version() >= 16 ? "half_pixel" : "output_half_pixel");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    context.fail("coordinate_transformation_mode is '{}', expected half_pixel or output_half_pixel", coordinates);
  attributes.half_pixel = coordinates == "half_pixel";
  attributes.height = context.attr_int("output_height", 1);
  attributes.width = context.attr_int("output_width", 1);
  attributes.sampling_ratio = context.attr_int("sampling_ratio", 0);
  if (attributes.height < 1 || attributes.width < 1 || attributes.height > INT32_MAX || attributes.width > INT32_MAX)
    context.fail("output_height and output_width are {} and {}, expected at least 1", attributes.height,
                 attributes.width);
  if (attributes.sampling_ratio < 0 || static_cast<double>(attributes.sampling_ratio) > kMostSamples)
    context.fail("sampling_ratio is {}", attributes.sampling_ratio);
  attributes.scale = static_cast<double>(context.attr_float("spatial_scale", 1.0f));
  return attributes;
}

/// Linear interpolation along one axis: two elements and the share of the second. weightless: outside the image.
struct Sample {
  int64_t low = 0, high = 0;
  double share = 0;
  bool outside = false;
};

Sample locate(double position, int64_t extent) {
  if (!(position >= -1.0 && position <= static_cast<double>(extent))) return {.outside = true};
  const double inside = std::max(position, 0.0);
  const auto low = static_cast<int64_t>(inside);
  if (low >= extent - 1) return {.low = extent - 1, .high = extent - 1};
  return {.low = low, .high = low + 1, .share = inside - static_cast<double>(low)};
}

/// One axis of a region: the samples of bin i are [i * per_bin, (i + 1) * per_bin).
struct AlignedAxis {
  int64_t per_bin = 0;
  std::vector<Sample> samples;
};

AlignedAxis align_axis(const OpContext& context, const AlignAttributes& attributes, double first, double last,
                       int64_t bins, int64_t extent) {
  const double shift = attributes.half_pixel ? 0.5 : 0.0;
  const double start = first * attributes.scale - shift;
  double length = last * attributes.scale - shift - start;
  if (!attributes.half_pixel) length = std::max(length, 1.0);
  const double bin = length / static_cast<double>(bins);
  AlignedAxis axis;
  const double wanted = attributes.sampling_ratio > 0 ? static_cast<double>(attributes.sampling_ratio) : std::ceil(bin);
  if (!(wanted <= kMostSamples) || wanted * static_cast<double>(bins) > kMostAxisSamples)
    context.fail("a region reaches from {} to {}", first, last);
  axis.per_bin = static_cast<int64_t>(std::max(0.0, wanted));
  for (int64_t i = 0; i < bins; ++i)
    for (int64_t s = 0; s < axis.per_bin; ++s)
      axis.samples.push_back(locate(start + static_cast<double>(i) * bin +
                                        (static_cast<double>(s) + 0.5) * bin / static_cast<double>(axis.per_bin),
                                    extent));
  return axis;
}

template <class T> double pool_bin(const AlignAttributes& attributes, const T* plane, int64_t width,
                                   std::span<const Sample> ys, std::span<const Sample> xs) {
  double result = 0;
  bool first = true;
  for (const Sample& y : ys) {
    for (const Sample& x : xs) {
      double corners[4] = {};
      if (!y.outside && !x.outside) {
        corners[0] = (1 - y.share) * (1 - x.share) * static_cast<double>(plane[y.low * width + x.low]);
        corners[1] = (1 - y.share) * x.share * static_cast<double>(plane[y.low * width + x.high]);
        corners[2] = y.share * (1 - x.share) * static_cast<double>(plane[y.high * width + x.low]);
        corners[3] = y.share * x.share * static_cast<double>(plane[y.high * width + x.high]);
      }
      if (attributes.take_max) {
        // The largest weighted corner, not the largest interpolated value: so it is defined.
        const double best = std::max(std::max(corners[0], corners[1]), std::max(corners[2], corners[3]));
        result = first ? best : std::max(result, best);
        first = false;
      } else {
        result += corners[0] + corners[1] + corners[2] + corners[3];
      }
    }
  }
  if (attributes.take_max) return result;
  return result / std::max(1.0, static_cast<double>(ys.size()) * static_cast<double>(xs.size()));
}

template <class T> void roi_align(const OpContext& context, const AlignAttributes& attributes, const Tensor& src,
                                  const Tensor& rois, std::span<const int64_t> images, T* dst) {
  const int64_t channels = src.dim(1), height = src.dim(2), width = src.dim(3);
  const int64_t bins = attributes.height * attributes.width;
  for (int64_t n = 0; n < rois.dim(0); ++n) {
    const int64_t image = images[static_cast<size_t>(n)];
    if (image < 0 || image >= src.dim(0))
      context.fail("region {} is of image {}, but there are {}", n, image, src.dim(0));
    const T* roi = rois.data<T>() + n * 4;
    const AlignedAxis xs = align_axis(context, attributes, static_cast<double>(roi[0]), static_cast<double>(roi[2]),
                                      attributes.width, width);
    const AlignedAxis ys = align_axis(context, attributes, static_cast<double>(roi[1]), static_cast<double>(roi[3]),
                                      attributes.height, height);
    parallel_for(channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        const T* plane = src.data<T>() + (image * channels + c) * height * width;
        T* out = dst + (n * channels + c) * bins;
        for (int64_t y = 0; y < attributes.height; ++y)
          for (int64_t x = 0; x < attributes.width; ++x)
            out[y * attributes.width + x] = static_cast<T>(pool_bin(
                attributes, plane, width,
                std::span(ys.samples).subspan(static_cast<size_t>(y * ys.per_bin), static_cast<size_t>(ys.per_bin)),
                std::span(xs.samples).subspan(static_cast<size_t>(x * xs.per_bin), static_cast<size_t>(xs.per_bin))));
      }
    });
  }
}

}  // namespace

void infer_roi_align(InferContext& context) {
  const AlignAttributes attributes = read_attributes(context);
  const auto &src = context.shape(0), &rois = context.shape(1), &images = context.shape(2);
  if (context.dtype(1) != context.dtype(0) && context.dtype(1) != DType::undefined)
    context.fail("input and rois have different dtypes");
  if (src && src->size() != 4) context.fail("input has rank {}, expected (N, C, H, W)", src->size());
  if (rois && (rois->size() != 2 || ((*rois)[1].is_known() && (*rois)[1].value() != 4)))
    context.fail("rois are {}, expected (count, 4)", to_text(*rois));
  if (images && images->size() != 1) context.fail("batch_indices have rank {}, expected 1", images->size());
  if (rois && images && (*rois)[0].is_known() && (*images)[0].is_known() && (*rois)[0].value() != (*images)[0].value())
    context.fail("{} regions, but {} batch indices", (*rois)[0].value(), (*images)[0].value());
  Dim count = rois ? (*rois)[0] : Dim::unknown();
  if (!count.is_known() && images) count = (*images)[0];
  context.set_output(0, context.dtype(0),
                     Shape{count, src ? (*src)[1] : Dim::unknown(), attributes.height, attributes.width});
}

void run_roi_align(KernelContext& context) {
  Tensor& output = context.output(0);
  if (output.count() == 0) return;
  const Tensor src = widened(context.input(0)), rois = widened(context.input(1));
  const AlignAttributes attributes = read_attributes(context);
  if (src.count() == 0) context.fail("an empty image of {} has no regions", to_text(src.dims()));
  Tensor dst = wide_output(output);
  const std::vector<int64_t> images = context.ints(2);
  dispatch<TypeList<float, double>>(dst.dtype(), context, [&]<class T>() {
    roi_align<T>(context, attributes, src, rois, images, dst.mutable_data<T>());
  });
  narrow(dst, output);
}

}  // namespace attune
