#include "job/precision/output_error.h"

#include "ops/convert.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace attune {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double float_error(const Tensor& got, const Tensor& truth) {
  const Tensor got_values = convert(got, DType::f64), truth_values = convert(truth, DType::f64);
  const double *g = got_values.data<double>(), *t = truth_values.data<double>();
  double squares = 0, worst = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < truth.count(); ++i) {
    if (std::isfinite(t[i])) {
      if (!std::isfinite(g[i])) return kInfinite;
      squares += t[i] * t[i];
      worst = std::max(worst, std::abs(g[i] - t[i]));
      ++finite;
    } else if (g[i] != t[i] && !(std::isnan(g[i]) && std::isnan(t[i]))) {
      return kInfinite;
    }
  }
  if (worst == 0) return 0;
  return worst / std::sqrt(squares / static_cast<double>(finite));
}

bool holds_the_same(const Tensor& got, const Tensor& truth) {
  if (!is_packed(truth.dtype()))
    return std::memcmp(got.bytes(), truth.bytes(), static_cast<size_t>(truth.size_bytes())) == 0;
  for (int64_t i = 0; i < truth.count(); ++i)  // the last byte may hold bits of no element
    if (element_as_int(got, i) != element_as_int(truth, i)) return false;
  return true;
}

}  // namespace

double output_error(const Tensor& got, const Tensor& truth) {
  if (got.dtype() != truth.dtype() || got.dims() != truth.dims()) return kInfinite;
  if (truth.count() == 0) return 0;
  if (is_float(truth.dtype())) return float_error(got, truth);
  return holds_the_same(got, truth) ? 0 : 1;
}

double output_error(std::span<const Tensor> got, std::span<const Tensor> truth) {
  if (got.size() != truth.size()) return kInfinite;
  double worst = 0;
  for (size_t i = 0; i < truth.size(); ++i) worst = std::max(worst, output_error(got[i], truth[i]));
  return worst;
}

}  // namespace attune
