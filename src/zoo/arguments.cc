#include "zoo/arguments.h"

#include "base/error.h"

namespace attune::zoo {
namespace {

constexpr int64_t kLargestImage = 16'384;  // a grid of constants grows with the area

}  // namespace

Dim batch_dim(const Options& options) {
  if (options.batch < 0) throw UserError("batch size {} is negative; use 0 for a symbolic one", options.batch);
  return options.batch == 0 ? Dim::symbol("batch") : Dim(options.batch);
}

Dim sequence_dim(const Options& options, std::string_view model, int64_t longest) {
  if (options.image_size != 0) throw UserError("model '{}' reads text; leave the image size out", model);
  if (options.sequence < 0)
    throw UserError("sequence length {} is negative; use 0 for a symbolic one", options.sequence);
  if (options.sequence > longest)
    throw UserError("model '{}' takes at most {} tokens, got {}", model, longest, options.sequence);
  return options.sequence == 0 ? Dim::symbol("sequence") : Dim(options.sequence);
}

int64_t image_size(const Options& options, std::string_view model, const ImageSizes& sizes) {
  const int64_t size = options.image_size == 0 ? sizes.own : options.image_size;
  if (size == sizes.own) return size;
  if (size < sizes.smallest || size > kLargestImage)
    throw UserError("model '{}' takes images of {} to {} pixels on a side, got {}", model, sizes.smallest,
                    kLargestImage, size);
  if (size % sizes.step != 0)
    throw UserError("model '{}' takes images whose side is a multiple of {}, got {}", model, sizes.step, size);
  return size;
}

}  // namespace attune::zoo
