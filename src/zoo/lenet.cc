// LeNet-5 (LeCun et al., 1998) in the form that is trained today: ReLU and max pooling.
#include "base/error.h"
#include "zoo/arguments.h"
#include "zoo/layers.h"
#include "zoo/models.h"

namespace attune::zoo {

Graph build_lenet(const Options& options) {
  constexpr int64_t kSize = 28;
  if (options.image_size != 0 && options.image_size != kSize)
    throw UserError("model 'lenet' takes images of {0}x{0} only, got {1}", kSize, options.image_size);
  const Dim batch = batch_dim(options);
  GraphBuilder b("lenet", options.seed);
  Feature x{b.input("input", DType::f32, {batch, 1, kSize, kSize}), 1};
  x = relu(b, conv(b, "conv1", x, {.out = 6, .kernel = 5, .bias = 0.1}));
  x = max_pool(b, x, {});
  x = relu(b, conv(b, "conv2", x, {.out = 16, .kernel = 5, .padding = 0, .bias = 0.1}));
  x = max_pool(b, x, {});
  x.value = b.op("Flatten", {x.value}, {{"axis", int64_t{1}}});
  x.channels = 16 * 5 * 5;
  x = relu(b, linear(b, "fc1", x, 120));
  x = relu(b, linear(b, "fc2", x, 84));
  x = linear(b, "fc3", x, 10);
  b.output(x.value, "output", DType::f32, {batch, 10});
  return std::move(b).finish();
}

}  // namespace attune::zoo
