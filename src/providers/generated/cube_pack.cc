// Weights of matrix products in the order in which generated kernels read them.
#include "base/parallel.h"
#include "codegen/cube/task_grid.h"
#include "providers/generated/cube_product.h"

#include <cstring>

namespace attune::generated {
namespace {

/// The element of the weights that a product multiplies with element `c` of piece `tap` for a column of a group; -1
/// for zeros between merged taps.
class WeightsIndex {
 public:
  explicit WeightsIndex(const ProductProblem& problem)
      : shape_(problem.shape),
        conv_(problem.conv.has_value()),
        mirrored_(problem.mirrored),
        filter_taps_(problem.filter_taps),
        filter_size_(problem.filter_size),
        merged_(problem.merged),
        spread_(problem.shape.depth / problem.merged),
        channels_(conv_ ? problem.conv->in_channels : spread_) {}
  int64_t operator()(int64_t group, int64_t column, int64_t tap, int64_t c) const {
    if (!conv_) return c * shape_.columns + column;
    const int64_t channel = c % spread_, taps = shape_.taps * merged_, at = tap * merged_ + c / spread_;
    if (channel >= channels_) return -1;
    if (!filter_taps_.empty())
      return ((group * channels_ + channel) * shape_.columns + column) * filter_size_ +
             filter_taps_[static_cast<size_t>(at)];
    if (mirrored_) return ((group * channels_ + channel) * shape_.columns + column) * taps + taps - 1 - at;
    return ((group * shape_.columns + column) * channels_ + channel) * taps + at;
  }

 private:
  const cube::ProductShape& shape_;
  bool conv_, mirrored_;
  const std::vector<int64_t>& filter_taps_;
  int64_t filter_size_;
  int64_t merged_, spread_, channels_;  // of one tap, with zeros and without
};

/// The same loop for every order: panels of `panel_columns`, the last padded to whole `lanes`; in each the taps, in
/// each tap the depth in steps of `step_depth` elements. `place(column, depth)` says where inside a step of `width`
/// columns an element lies.
template <class T, class Place> Tensor pack(const ProductProblem& problem, const Tensor& weights, int64_t panel_columns,
                                            int64_t lanes, int64_t step_depth, const Place& place) {
  const cube::ProductShape& shape = problem.shape;
  const int64_t steps = cube::divide_up(shape.depth, step_depth) * shape.taps;
  const int64_t padded_columns = cube::divide_up(shape.columns, lanes) * lanes;
  const int64_t group_size = padded_columns * steps * step_depth;
  Tensor packed = Tensor::lasting(weights.dtype(), {shape.groups * group_size});
  const T* from = weights.data<T>();
  T* to = packed.mutable_data<T>();
  const int64_t panels = cube::divide_up(shape.columns, panel_columns);
  const WeightsIndex index(problem);
  parallel_for(shape.groups * panels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i / panels, first = i % panels * panel_columns;
      const int64_t columns = std::min(panel_columns, shape.columns - first);
      const int64_t width = cube::divide_up(columns, lanes) * lanes;
      T* panel = to + group * group_size + first * steps * step_depth;
      for (int64_t tap = 0; tap < shape.taps; ++tap)
        for (int64_t c = 0; c < shape.depth; ++c) {
          T* step = panel + (tap * cube::divide_up(shape.depth, step_depth) + c / step_depth) * step_depth * width;
          for (int64_t n = 0; n < columns; ++n)
            if (const int64_t at = index(group, first + n, tap, c); at >= 0) step[place(n, c % step_depth)] = from[at];
        }
    }
  });
  return packed;
}

}  // namespace

Tensor pack_vector_weights(const ProductProblem& problem, const cube::VectorSchedule& schedule, const Tensor& weights) {
  const int64_t columns = schedule.panel_columns(), lanes = schedule.isa.lanes;
  if (problem.shape.src == DType::f32)
    return pack<float>(problem, weights, columns, lanes, 1, [](int64_t n, int64_t) { return n; });
  return pack<BFloat16>(problem, weights, columns, lanes, 2, [](int64_t n, int64_t c) { return 2 * n + c; });
}

Tensor pack_tile_weights(const ProductProblem& problem, const TilePanels& panels, const Tensor& weights) {
  // A step of the depth is a row of tiles; a tile holds up to 16 pairs of the depth for 16 columns.
  const int64_t tile = panels.step_depth * 16;
  return pack<BFloat16>(problem, weights, panels.columns, 16, panels.step_depth,
                        [tile](int64_t n, int64_t c) { return n / 16 * tile + c / 2 * 32 + n % 16 * 2 + c % 2; });
}

Tensor row_table(const ProductProblem& problem, int64_t tile_rows) {
  if (!problem.shape.by_table()) return {};
  const ConvGeometry& geometry = problem.conv.value();
  const cube::ProductShape& shape = problem.shape;
  const int64_t tiles = cube::divide_up(shape.rows, tile_rows);
  Tensor table = Tensor::zeros(DType::i32, {tiles * shape.taps * tile_rows});
  int32_t* at = table.mutable_data<int32_t>();
  const int64_t channels = geometry.groups * geometry.in_channels;
  for (int64_t row = 0; row < shape.rows; ++row)
    for (int64_t tap = 0; tap < shape.taps; ++tap) {
      // Pixel and tap as coordinates, the last axis fastest.
      int64_t pixel = row % geometry.out_size(), rest = tap, position = 0, scale = 1;
      bool inside = true;
      for (size_t i = geometry.axes.size(); i-- > 0;) {
        const WindowAxis& axis = geometry.axes[i];
        const int64_t in = axis.start(pixel % axis.out) + rest % axis.kernel * axis.dilation;
        inside &= in >= 0 && in < axis.in;
        position += in * scale;
        scale *= axis.in;
        pixel /= axis.out;
        rest /= axis.kernel;
      }
      const int64_t image = row / geometry.out_size();
      at[(row / tile_rows * shape.taps + tap) * tile_rows + row % tile_rows] =
          inside ? static_cast<int32_t>((image * geometry.in_size() + position) * channels) : -1;
    }
  return table;
}

}  // namespace attune::generated
