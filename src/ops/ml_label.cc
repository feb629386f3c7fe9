// LabelEncoder: a table from keys to values, both numbers.
#include "ops/convert.h"
#include "ops/dispatch.h"
#include "ops/ml_parts.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace attune {
namespace {

/// Keys or values, from whichever attribute of the prefix is given.
Tensor table_column(const OpContext& context, const std::string& prefix) {
  const std::string strings = prefix + "strings", integers = prefix + "int64s", floats = prefix + "floats",
                    tensor = prefix + "tensor";
  if (context.has_attr(strings) && !context.attr_strings(strings).empty())
    context.unsupported("labels of strings ('{}') are not supported", strings);
  if (context.has_attr(tensor)) return context.attr_tensor(tensor);
  if (context.has_attr(integers) && !context.attr_ints(integers).empty())
    return Tensor::vector(context.attr_ints(integers));
  if (!context.has_attr(floats)) context.fail("none of the attributes '{}*' is given", prefix);
  const auto& list = context.attr_floats(floats);
  return Tensor::from<float>({static_cast<int64_t>(list.size())}, std::span<const float>(list));
}

/// What unknown keys become, in the dtype of the values.
Tensor default_value(const OpContext& context, DType dtype) {
  if (context.has_attr("default_tensor")) {
    const Tensor& given = context.attr_tensor("default_tensor");
    if (given.count() != 1 || given.dtype() != dtype)
      context.fail("attribute 'default_tensor' must be one element of dtype {}", dtype_name(dtype));
    return given;
  }
  if (is_float(dtype)) return convert(Tensor::scalar(context.attr_float("default_float", -0.0f)), dtype);
  return convert(Tensor::scalar(context.attr_int("default_int64", -1)), dtype);
}

/// Orders all numbers; NaNs are equal to each other and come last.
template <class K> bool key_less(K a, K b) {
  if constexpr (std::is_floating_point_v<K>)
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  return a < b;
}

template <class K> struct Entry {
  K key;
  int64_t value;  // index into the values
};

/// Sorted by key; of equal keys only the last is left.
template <class K> std::vector<Entry<K>> build_table(const Tensor& keys) {
  std::vector<Entry<K>> table;
  for (int64_t i = keys.count() - 1; i >= 0; --i) table.push_back({keys.data<K>()[i], i});
  std::stable_sort(table.begin(), table.end(), [](const auto& a, const auto& b) { return key_less(a.key, b.key); });
  const auto same = [](const auto& a, const auto& b) { return !key_less(a.key, b.key) && !key_less(b.key, a.key); };
  table.erase(std::unique(table.begin(), table.end(), same), table.end());
  return table;
}

}  // namespace

void infer_label_encoder(InferContext& context) {
  if (context.version() < 2)
    context.unsupported("opset 1 maps between strings and integers; strings are not supported");
  const Tensor keys = table_column(context, "keys_");
  const Tensor values = table_column(context, "values_");
  if (keys.count() != values.count()) context.fail("there are {} keys but {} values", keys.count(), values.count());
  if (context.dtype(0) != DType::undefined && context.dtype(0) != keys.dtype())
    context.fail("the input is {} but the keys are {}", dtype_name(context.dtype(0)), dtype_name(keys.dtype()));
  context.set_output(0, values.dtype(), context.shape(0));
}

void run_label_encoder(KernelContext& context) {
  using KeyTypes = TypeList<int64_t, int32_t, int16_t, float, double>;
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  const Tensor values = table_column(context, "values_");
  const Tensor fallback = default_value(context, values.dtype());
  dispatch<KeyTypes>(src.dtype(), context, [&]<class K>() {
    const auto table = build_table<K>(table_column(context, "keys_"));
    const K* from = src.data<K>();
    dispatch_by_size(values.dtype(), context, [&]<class U>() {
      const U* list = reinterpret_cast<const U*>(values.bytes());
      const U other = *reinterpret_cast<const U*>(fallback.bytes());
      U* to = reinterpret_cast<U*>(dst.mutable_bytes());
      for (int64_t i = 0; i < src.count(); ++i) {
        const auto found = std::lower_bound(table.begin(), table.end(), from[i],
                                            [](const Entry<K>& entry, K key) { return key_less(entry.key, key); });
        const bool known = found != table.end() && !key_less(from[i], found->key);
        to[i] = known ? list[found->value] : other;
      }
    });
  });
}

}  // namespace attune
