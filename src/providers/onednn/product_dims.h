// Dims of matrix products as oneDNN takes them: matrices, all of one rank.
#pragma once

#include "graph/shape.h"

namespace attune::onednn {

struct ProductDims {
  Dims a, b, c;
};

/// `given` are the operator's own dims. Vectors become matrices; with `flatten` the leading dims of a and c become rows
/// (right when b is one matrix). Throws UnsupportedError beyond the ranks that the library has.
ProductDims product_dims(ProductDims given, bool flatten);

/// All dims but the last as one.
Dims flattened(const Dims& dims);

}  // namespace attune::onednn
