// A perceptron for digits: three linear layers.
#include "base/error.h"
#include "zoo/arguments.h"
#include "zoo/layers.h"
#include "zoo/models.h"

namespace attune::zoo {

Graph build_mlp(const Options& options) {
  if (options.image_size != 0 && options.image_size != 28)
    throw UserError("model 'mlp' reads 784 numbers, an image of 28x28; got image size {}", options.image_size);
  const Dim batch = batch_dim(options);
  GraphBuilder b("mlp", options.seed);
  Feature x{b.input("input", DType::f32, {batch, 784}), 784};
  x = relu(b, linear(b, "0", x, 512));
  x = relu(b, linear(b, "2", x, 256));
  x = linear(b, "4", x, 10);
  b.output(x.value, "output", DType::f32, {batch, 10});
  return std::move(b).finish();
}

}  // namespace attune::zoo
