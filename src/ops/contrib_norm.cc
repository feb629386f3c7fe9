// Normalisations over the last axes that ONNX Runtime fuses with what comes before them.
#include "base/parallel.h"
#include "ops/contrib_transformer.h"
#include "ops/widen.h"

#include <cmath>

namespace attune::contrib {
namespace {

enum class Centre : uint8_t { mean, zero };  // what is subtracted before the scale is taken

/// Normalises one row; `beta` may be nullptr.
template <class C> struct RowNorm {
  Centre centre = Centre::mean;
  double epsilon = 0;
  const C* gamma = nullptr;
  const C* beta = nullptr;

  struct Statistics {
    double mean = 0, inverse_deviation = 0;
  };
  Statistics operator()(const C* x, C* y, int64_t width) const {
    double mean = 0, squares = 0;
    if (centre == Centre::mean) {
      for (int64_t j = 0; j < width; ++j) mean += static_cast<double>(x[j]);
      mean /= static_cast<double>(width);
    }
    for (int64_t j = 0; j < width; ++j) {
      const double distance = static_cast<double>(x[j]) - mean;
      squares += distance * distance;
    }
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(width) + epsilon);
    for (int64_t j = 0; j < width; ++j) {
      const C normal = static_cast<C>((static_cast<double>(x[j]) - mean) * inverse) * gamma[j];
      y[j] = beta ? normal + beta[j] : normal;
    }
    return {mean, inverse};
  }
};

/// Rows of at least this many elements are worth a thread.
int64_t row_grain(int64_t width) { return 1 + 8 * 1024 / (width + 1); }

void store_statistic(KernelContext& context, int i, int64_t row, double value) {
  if (!context.wants_output(i)) return;
  Tensor& dst = context.output(i);
  if (dst.dtype() == DType::f64)
    dst.mutable_data<double>()[row] = value;
  else
    dst.mutable_data<float>()[row] = static_cast<float>(value);
}

/// Allocates what rows write from several threads.
void touch_outputs(KernelContext& context) {
  for (int i = 0; i < context.output_count(); ++i)
    if (context.wants_output(i)) context.output(i);
}

DType statistics_dtype(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

void check_row_vector(const InferContext& context, int i, const Dim& width, std::string_view what) {
  if (!context.has_input(i) || !context.shape(i)) return;
  const Shape& shape = *context.shape(i);
  if (shape.size() != 1) context.fail("{} has rank {}, expected 1", what, shape.size());
  attention::expect_equal(shape[0], width, context, what);
}

}  // namespace

void infer_simplified_layer_norm(InferContext& context) {
  const DType dtype = context.dtype(1) == DType::undefined ? context.dtype(0) : context.dtype(1);
  const auto& x = context.shape(0);
  if (!x) {
    context.set_output(0, dtype, std::nullopt);
    context.set_output(1, statistics_dtype(context.dtype(0)), std::nullopt);
    return;
  }
  const int64_t axis = context.axis_in_range(context.attr_int("axis", -1), static_cast<int64_t>(x->size()));
  Shape reduced = *x;
  Dim width(1);
  for (size_t i = static_cast<size_t>(axis); i < reduced.size(); ++i) {
    width = width * reduced[i];
    reduced[i] = 1;
  }
  if (context.shape(1))
    attention::expect_equal(element_count(*context.shape(1)), width, context, "sizes of a row and scale");
  context.set_output(0, dtype, *x);
  context.set_output(1, statistics_dtype(context.dtype(0)), std::move(reduced));
}

void run_simplified_layer_norm(KernelContext& context) {
  const Tensor& src = context.input(0);
  const int64_t axis = context.axis_in_range(context.attr_int("axis", -1), src.rank());
  touch_outputs(context);
  const int64_t width = element_count(std::span(src.dims()).subspan(static_cast<size_t>(axis)));
  if (src.count() == 0) return;
  dispatch_compute(src.dtype(), context, [&]<class C>() {
    const Tensor x = widened<C>(src, context), gamma = widened<C>(context.input(1), context);
    RoundedOutput<C> place(context.output(0));
    C* y = place.data();
    const RowNorm<C> norm{Centre::zero, static_cast<double>(context.attr_float("epsilon", 1e-5f)), gamma.data<C>()};
    parallel_for(src.count() / width, row_grain(width), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const auto statistics = norm(x.data<C>() + row * width, y + row * width, width);
        store_statistic(context, 1, row, statistics.inverse_deviation);
      }
    });
    place.store();
  });
}

void infer_skip_norm(InferContext& context) {
  const auto& x = context.shape(0);
  const DType dtype = context.dtype(0);
  context.set_output(0, dtype, x);
  context.set_output(3, dtype, x);
  std::optional<Shape> reduced = x;
  if (x) {
    if (x->size() != 2 && x->size() != 3) context.fail("the input has rank {}, expected 2 or 3", x->size());
    reduced->back() = 1;
    for (int i = 2; i < context.input_count(); ++i)
      check_row_vector(context, i, x->back(), "lengths of a row and gamma, beta or bias");
    if (context.shape(1)) {
      const Shape& skip = *context.shape(1);
      if (skip.size() > x->size() || skip.size() < 2)
        context.fail("the skip {} does not fit {}", to_text(skip), to_text(*x));
      for (size_t i = 0; i < skip.size(); ++i) {
        const Dim& own = skip[skip.size() - 1 - i];
        if (i == 2 && own.is_known() && own.value() == 1) continue;  // one skip for the whole batch
        attention::expect_equal(own, (*x)[x->size() - 1 - i], context, "dims of input and skip");
      }
    }
  }
  context.set_output(1, DType::f32, reduced);
  context.set_output(2, DType::f32, reduced);
}

namespace {

void run_skip_norm(KernelContext& context, Centre centre) {
  const Tensor& src = context.input(0);
  touch_outputs(context);
  if (src.count() == 0) return;
  const int beta_slot = centre == Centre::mean ? 3 : -1, bias_slot = centre == Centre::mean ? 4 : 3;
  const int64_t width = src.dim(src.rank() - 1), rows = src.count() / width;
  dispatch_compute(src.dtype(), context, [&]<class C>() {
    const auto optional_input = [&](int i) {
      return i >= 0 && context.has_input(i) ? widened<C>(context.input(i), context) : Tensor();
    };
    const Tensor x = widened<C>(src, context), skip = widened<C>(context.input(1), context);
    const Tensor gamma = widened<C>(context.input(2), context);
    const Tensor beta = optional_input(beta_slot), bias = optional_input(bias_slot);
    const int64_t skip_rows = skip.count() / width;
    RoundedOutput<C> place(context.output(0));
    C* y = place.data();
    std::optional<RoundedOutput<C>> sum_place;
    if (context.wants_output(3)) sum_place.emplace(context.output(3));
    C* sums = sum_place ? sum_place->data() : y;  // a row is normalised in place when its sum is not wanted
    const RowNorm<C> norm{centre, static_cast<double>(context.attr_float("epsilon", 1e-12f)), gamma.data<C>(),
                          beta.empty() ? nullptr : beta.data<C>()};
    parallel_for(rows, row_grain(width), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const C* a = x.data<C>() + row * width;
        const C* b = skip.data<C>() + row % skip_rows * width;
        C* sum = sums + row * width;
        for (int64_t j = 0; j < width; ++j) sum[j] = a[j] + b[j];
        if (!bias.empty())
          for (int64_t j = 0; j < width; ++j) sum[j] += bias.data<C>()[j];
        const auto statistics = norm(sum, y + row * width, width);
        store_statistic(context, 1, row, statistics.mean);
        store_statistic(context, 2, row, statistics.inverse_deviation);
      }
    });
    place.store();
    if (sum_place) sum_place->store();
  });
}

}  // namespace

void run_skip_layer_norm(KernelContext& context) { run_skip_norm(context, Centre::mean); }
void run_skip_simplified_layer_norm(KernelContext& context) { run_skip_norm(context, Centre::zero); }

namespace {

enum Embed { kIds, kSegments, kWords, kPositions, kSegmentTable, kGamma, kBeta, kMask, kPositionIds };

/// Indices into a table, checked; nothing when the input is omitted.
std::vector<int64_t> checked_ids(const KernelContext& context, int i, int table) {
  if (!context.has_input(i)) return {};
  std::vector<int64_t> ids = context.ints(i);
  const int64_t rows = context.input(table).dim(0);
  for (const int64_t id : ids)
    if (id < 0 || id >= rows) context.fail("id {} is outside of its table of {} rows", id, rows);
  return ids;
}

void count_mask(KernelContext& context, int64_t batch, int64_t length) {
  if (!context.wants_output(1)) return;
  int32_t* counts = context.output(1).mutable_data<int32_t>();
  std::fill(counts, counts + batch, 0);
  if (!context.has_input(kMask)) return;
  const std::vector<int64_t> mask = context.ints(kMask);
  for (int64_t b = 0; b < batch; ++b)
    counts[b] = static_cast<int32_t>(std::count(mask.begin() + b * length, mask.begin() + (b + 1) * length, 1));
}

}  // namespace

void infer_embed_layer_norm(InferContext& context) {
  for (const int i :
       {static_cast<int>(kWords), static_cast<int>(kPositions), static_cast<int>(kGamma), static_cast<int>(kBeta)})
    if (!context.has_input(i)) context.fail("input {} is missing", i);
  const Dim batch = dim_of(context, kIds, 2, 0, "input_ids"), length = dim_of(context, kIds, 2, 1, "input_ids");
  const Dim width = dim_of(context, kWords, 2, 1, "word_embedding");
  attention::expect_equal(dim_of(context, kPositions, 2, 1, "position_embedding"), width, context,
                          "widths of the tables");
  if (context.has_input(kSegments) != context.has_input(kSegmentTable))
    context.fail("segment_ids and segment_embedding must be given together");
  if (context.has_input(kSegmentTable))
    attention::expect_equal(dim_of(context, kSegmentTable, 2, 1, "segment_embedding"), width, context,
                            "widths of the tables");
  for (const int i : {static_cast<int>(kSegments), static_cast<int>(kMask)}) {
    if (!context.has_input(i)) continue;
    attention::expect_equal(dim_of(context, i, 2, 0, "segment_ids or mask"), batch, context, "batches");
    attention::expect_equal(dim_of(context, i, 2, 1, "segment_ids or mask"), length, context, "sequence lengths");
  }
  if (context.has_input(kPositionIds)) {
    const Dim rows = dim_of(context, kPositionIds, 2, 0, "position_ids");
    if (!(rows.is_known() && rows.value() == 1)) attention::expect_equal(rows, batch, context, "batches");
    attention::expect_equal(dim_of(context, kPositionIds, 2, 1, "position_ids"), length, context, "sequence lengths");
  } else if (const Dim rows = dim_of(context, kPositions, 2, 0, "position_embedding");
             rows.is_known() && length.is_known() && length.value() > rows.value()) {
    context.fail("a sequence of {} does not fit the {} positions", length.value(), rows.value());
  }
  check_row_vector(context, kGamma, width, "widths of the tables and gamma");
  check_row_vector(context, kBeta, width, "widths of the tables and beta");
  const Shape sum = {batch, length, width};
  context.set_output(0, context.dtype(kWords), sum);
  context.set_output(1, DType::i32, Shape{batch});
  context.set_output(2, context.dtype(kWords), sum);
}

void run_embed_layer_norm(KernelContext& context) {
  touch_outputs(context);
  const int64_t batch = context.input(kIds).dim(0), length = context.input(kIds).dim(1);
  const int64_t width = context.input(kWords).dim(1);
  count_mask(context, batch, length);
  const std::vector<int64_t> words = checked_ids(context, kIds, kWords);
  const std::vector<int64_t> segments = checked_ids(context, kSegments, kSegmentTable);
  const std::vector<int64_t> positions = checked_ids(context, kPositionIds, kPositions);
  if (width == 0) return;
  dispatch_compute(context.input(kWords).dtype(), context, [&]<class C>() {
    const Tensor word_table = widened<C>(context.input(kWords), context);
    const Tensor position_table = widened<C>(context.input(kPositions), context);
    const Tensor segment_table = segments.empty() ? Tensor() : widened<C>(context.input(kSegmentTable), context);
    const Tensor gamma = widened<C>(context.input(kGamma), context), beta = widened<C>(context.input(kBeta), context);
    RoundedOutput<C> place(context.output(0));
    C* y = place.data();
    std::optional<RoundedOutput<C>> sum_place;
    if (context.wants_output(2)) sum_place.emplace(context.output(2));
    C* sums = sum_place ? sum_place->data() : y;
    const RowNorm<C> norm{Centre::mean, static_cast<double>(context.attr_float("epsilon", 1e-12f)), gamma.data<C>(),
                          beta.data<C>()};
    parallel_for(batch * length, row_grain(width), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const auto index = static_cast<size_t>(row);
        const int64_t position = positions.empty() ? row % length : positions[index % positions.size()];
        const C* word = word_table.data<C>() + words[index] * width;
        const C* place_of = position_table.data<C>() + position * width;
        C* sum = sums + row * width;
        for (int64_t j = 0; j < width; ++j) sum[j] = word[j] + place_of[j];
        if (!segments.empty()) {
          const C* segment = segment_table.data<C>() + segments[index] * width;
          for (int64_t j = 0; j < width; ++j) sum[j] += segment[j];
        }
        norm(sum, y + row * width, width);
      }
    });
    place.store();
    if (sum_place) sum_place->store();
  });
}

}  // namespace attune::contrib
