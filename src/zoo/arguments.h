// Checks of the options that every builder shares.
#pragma once

#include "zoo/zoo.h"

namespace attune::zoo {

struct ImageSizes {
  int64_t own = 224;
  int64_t smallest = 32;
  int64_t step = 1;  // sizes are multiples of this
};

/// The batch dimension: a number or the symbol "batch".
Dim batch_dim(const Options& options);
/// What Reshape takes for a dimension that is `dim` and the only one that may be symbolic.
inline int64_t reshape_dim(const Dim& dim) { return dim.is_known() ? dim.value() : -1; }

/// The sequence dimension of a text model: a number or the symbol "sequence". Also refuses an image size.
Dim sequence_dim(const Options& options, std::string_view model, int64_t longest);

/// Pixels on a side.
int64_t image_size(const Options& options, std::string_view model, const ImageSizes& sizes);

}  // namespace attune::zoo
