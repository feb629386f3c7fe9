// Preparation of features: selection, thresholds, scaling, one-hot.
#include "ops/convert.h"
#include "ops/dispatch.h"
#include "ops/ml_parts.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace attune {
namespace {

constexpr int64_t kMostFeatures = int64_t{1} << 40;  // more is a damaged model, and sums stay exact
using MlTypes = TypeList<float, double, int64_t, int32_t>;

int64_t last_dim(const Tensor& tensor) { return tensor.rank() == 0 ? 1 : tensor.dims().back(); }

/// One value for all features or one for each.
template <class V> void require_per_feature(const OpContext& context, std::string_view name, const std::vector<V>& list,
                                            int64_t features) {
  if (list.size() != 1 && static_cast<int64_t>(list.size()) != features)
    context.fail("attribute '{}' has {} elements, expected 1 or {}", name, list.size(), features);
}

template <class V> V per_feature(const std::vector<V>& list, int64_t feature) {
  return list.size() == 1 ? list.front() : list[static_cast<size_t>(feature)];
}

/// Replaces elements equal to `replaced` (NaN matches NaN) by the value for their feature.
template <class T, class V>
void impute(KernelContext& context, std::string_view name, const std::vector<V>& values, V replaced) {
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  if (src.count() == 0) return;
  const int64_t features = last_dim(src);
  require_per_feature(context, name, values, features);
  const T wanted = static_cast<T>(replaced);
  const T* from = src.data<T>();
  T* to = dst.mutable_data<T>();
  for (int64_t i = 0; i < src.count(); ++i) {
    const bool matches = wanted != wanted ? from[i] != from[i] : from[i] == wanted;
    to[i] = matches ? static_cast<T>(per_feature(values, i % features)) : from[i];
  }
}

enum class Norm { max, l1, l2 };

Norm norm_of(const OpContext& context) {
  const std::string text = context.attr_string("norm", "MAX");
  if (text == "MAX") return Norm::max;
  if (text == "L1") return Norm::l1;
  if (text == "L2") return Norm::l2;
  context.fail("attribute 'norm' is '{}', expected MAX, L1 or L2", text);
}

double norm_value(std::span<const float> row, Norm norm) {
  double sum = 0;
  for (const float value : row) {
    if (norm == Norm::l1) sum += std::fabs(static_cast<double>(value));
    if (norm == Norm::l2) sum += static_cast<double>(value) * static_cast<double>(value);
  }
  if (norm == Norm::max) return static_cast<double>(*std::max_element(row.begin(), row.end()));
  return norm == Norm::l2 ? std::sqrt(sum) : sum;
}

}  // namespace

void infer_same_type(InferContext& context) { context.copy_type(0, 0); }
void infer_same_shape_f32(InferContext& context) { context.set_output(0, DType::f32, context.shape(0)); }

void infer_array_feature_extractor(InferContext& context) {
  const auto& shape = context.shape(0);
  if (!shape || !context.shape(1)) {
    context.set_output(0, context.dtype(0), std::nullopt);
    return;
  }
  if (shape->empty()) context.fail("the data is a scalar, expected at least one axis");
  Shape out(shape->begin(), shape->end() - 1);
  if (out.empty()) out.emplace_back(1);  // a vector is one row
  out.push_back(element_count(*context.shape(1)));
  context.set_output(0, context.dtype(0), out);
}

void run_array_feature_extractor(KernelContext& context) {
  const Tensor& src = context.input(0);
  const std::vector<int64_t> indices = context.ints(1);
  Tensor& dst = context.output(0);
  const int64_t features = src.dims().back();
  for (const int64_t index : indices)
    if (index < 0 || index >= features) context.fail("index {} is out of range for {} features", index, features);
  if (dst.count() == 0) return;
  dispatch_by_size(src.dtype(), context, [&]<class U>() {
    const U* from = reinterpret_cast<const U*>(src.bytes());
    U* to = reinterpret_cast<U*>(dst.mutable_bytes());
    for (int64_t row = 0; row < src.count() / features; ++row)
      for (const int64_t index : indices) *to++ = from[row * features + index];
  });
}

void run_binarizer(KernelContext& context) {
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  const double threshold = static_cast<double>(context.attr_float("threshold", 0.0f));
  dispatch<MlTypes>(src.dtype(), context, [&]<class T>() {
    const T* from = src.data<T>();
    T* to = dst.mutable_data<T>();
    for (int64_t i = 0; i < src.count(); ++i) to[i] = static_cast<T>(static_cast<double>(from[i]) > threshold);
  });
}

void infer_feature_vectorizer(InferContext& context) {
  const auto& widths = context.attr_ints("inputdimensions");
  require_size(context, "inputdimensions", widths.size(), context.input_count());
  Dim total(0);
  for (const int64_t width : widths) {
    if (width < 0 || width > kMostFeatures) context.fail("attribute 'inputdimensions' has the size {}", width);
    total = total + width;
  }
  context.set_output(0, DType::f32, Shape{inferred_rows(context, 0), total});
}

void run_feature_vectorizer(KernelContext& context) {
  const auto& widths = context.attr_ints("inputdimensions");
  Tensor& dst = context.output(0);
  if (dst.count() == 0) return;
  float* out = dst.mutable_data<float>();
  std::fill(out, out + dst.count(), 0.0f);  // inputs narrower than stated are padded
  int64_t column = 0;
  for (int i = 0; i < context.input_count(); ++i) {
    const FeatureRows rows = feature_rows(context, i);
    if (rows.rows != dst.dim(0)) context.fail("input {} has {} rows, the first has {}", i, rows.rows, dst.dim(0));
    const Tensor src = convert(context.input(i), DType::f32);
    const int64_t width = widths[static_cast<size_t>(i)];
    for (int64_t row = 0; row < rows.rows; ++row)
      std::copy_n(src.data<float>() + row * rows.features, std::min(width, rows.features),
                  out + row * dst.dim(1) + column);
    column += width;
  }
}

void run_imputer(KernelContext& context) {
  dispatch<MlTypes>(context.input(0).dtype(), context, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>)
      impute<T>(context, "imputed_value_floats", context.attr_floats("imputed_value_floats"),
                context.attr_float("replaced_value_float", 0.0f));
    else
      impute<T>(context, "imputed_value_int64s", context.attr_ints("imputed_value_int64s"),
                context.attr_int("replaced_value_int64", 0));
  });
}

void run_normalizer(KernelContext& context) {
  const Norm norm = norm_of(context);
  const FeatureRows rows = feature_rows(context, 0);
  const Tensor src = convert(context.input(0), DType::f32);
  Tensor& dst = context.output(0);
  if (src.count() == 0) return;
  for (int64_t row = 0; row < rows.rows; ++row) {
    const std::span<const float> from(src.data<float>() + row * rows.features, static_cast<size_t>(rows.features));
    const double divisor = norm_value(from, norm);
    float* to = dst.mutable_data<float>() + row * rows.features;
    for (const float value : from)
      *to++ = divisor == 0 ? value : static_cast<float>(static_cast<double>(value) / divisor);
  }
}

void infer_one_hot_encoder(InferContext& context) {
  if (context.has_attr("cats_strings") && !context.attr_strings("cats_strings").empty())
    context.unsupported("categories of strings are not supported; use cats_int64s");
  const auto categories = static_cast<int64_t>(context.attr_ints("cats_int64s").size());
  std::optional<Shape> out = context.shape(0);
  if (out) out->emplace_back(categories);
  context.set_output(0, DType::f32, out);
}

void run_one_hot_encoder(KernelContext& context) {
  const auto& categories = context.attr_ints("cats_int64s");
  const auto width = static_cast<int64_t>(categories.size());
  std::unordered_map<int64_t, int64_t> position;
  for (int64_t i = 0; i < width; ++i) position[categories[static_cast<size_t>(i)]] = i;
  const bool unknown_allowed = context.attr_int("zeros", 1) != 0;
  const Tensor src = convert(context.input(0), DType::i64);
  Tensor& dst = context.output(0);
  float* out = dst.mutable_data<float>();
  std::fill(out, out + dst.count(), 0.0f);
  for (int64_t i = 0; i < src.count(); ++i) {
    const auto found = position.find(src.data<int64_t>()[i]);
    if (found != position.end())
      out[i * width + found->second] = 1.0f;
    else if (!unknown_allowed)
      context.fail("{} is not one of the {} categories", src.data<int64_t>()[i], width);
  }
}

void run_scaler(KernelContext& context) {
  const auto& offset = context.attr_floats("offset");
  const auto& scale = context.attr_floats("scale");
  const Tensor src = convert(context.input(0), DType::f32);
  Tensor& dst = context.output(0);
  if (src.count() == 0) return;
  const int64_t features = last_dim(src);
  require_per_feature(context, "offset", offset, features);
  require_per_feature(context, "scale", scale, features);
  const float* from = src.data<float>();
  float* to = dst.mutable_data<float>();
  for (int64_t i = 0; i < src.count(); i += features)
    for (int64_t k = 0; k < features; ++k) to[i + k] = (from[i + k] - per_feature(offset, k)) * per_feature(scale, k);
}

}  // namespace attune
