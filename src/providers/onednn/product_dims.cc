#include "providers/onednn/product_dims.h"

#include "base/error.h"

#include <oneapi/dnnl/dnnl_types.h>

#include <algorithm>

namespace attune::onednn {

Dims flattened(const Dims& dims) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < dims.size(); ++i) rows *= dims[i];
  return {rows, dims.back()};
}

ProductDims product_dims(ProductDims given, bool flatten) {
  auto& [a, b, c] = given;
  // A vector is a row on the left and a column on the right; the result has no such dim.
  if (a.size() == 1) {
    a.insert(a.begin(), 1);
    c.insert(c.end() - (b.size() == 1 ? 0 : 1), 1);
  }
  if (b.size() == 1) {
    b.push_back(1);
    c.push_back(1);
  }
  if (flatten) {
    a = flattened(a);
    c = flattened(c);
  }
  const size_t rank = std::max({a.size(), b.size(), c.size()});
  if (rank > DNNL_MAX_NDIMS) throw UnsupportedError("a matrix product of rank {}", rank);
  for (Dims* dims : {&a, &b, &c}) dims->insert(dims->begin(), rank - dims->size(), 1);
  return given;
}

}  // namespace attune::onednn
