// Classifies one image: loads a model, looks at what it takes, runs it and prints the five best classes.
#include <attune/attune.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

// Raw float32 values, as many as the input has; numpy writes them with x.astype("float32").tofile("image.f32").
static attune::Tensor read_image(const std::string& path, const attune::ValueInfo& input) {
  attune::Shape shape;
  for (const attune::Dimension& dim : input.shape)
    shape.push_back(dim.is_known() ? dim.size : 1);  // open: a batch of 1
  attune::Tensor image(attune::DType::f32, shape);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(static_cast<char*>(image.data()), static_cast<std::streamsize>(image.bytes())))
    throw attune::UserError("'" + path + "' does not hold " + std::to_string(image.bytes()) + " bytes");
  return image;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: classify MODEL IMAGE.f32    (MODEL: an ONNX file, a plan, or zoo:NAME)\n");
    return 2;
  }
  try {
    attune::SessionOptions options;
    options.memory_limit_bytes = int64_t{2} << 30;
    const attune::Session session(argv[1], options);

    const attune::ValueInfo& input = session.inputs().at(0);
    const attune::ValueInfo& output = session.outputs().at(0);
    const attune::Tensor image = read_image(argv[2], input);
    const attune::Outputs results = session.run({{input.name, image}});

    const attune::Tensor& scores = results.at(output.name);
    std::vector<size_t> classes(scores.count());
    std::iota(classes.begin(), classes.end(), size_t{0});
    const float* score = scores.data_as<float>();
    const size_t shown = std::min<size_t>(5, classes.size());
    std::partial_sort(classes.begin(), classes.begin() + static_cast<std::ptrdiff_t>(shown), classes.end(),
                      [&](size_t a, size_t b) { return score[a] > score[b]; });
    for (size_t i = 0; i < shown; ++i) std::printf("%zu %.9g\n", classes[i], static_cast<double>(score[classes[i]]));

    const attune::SessionStats stats = session.stats();
    std::fprintf(stderr, "weights %.1f MB, activations %.1f MB\n", static_cast<double>(stats.weight_bytes) / 1e6,
                 static_cast<double>(stats.peak_arena_bytes) / 1e6);
    return 0;
  } catch (const attune::Error& error) {
    std::fprintf(stderr, "classify: %s\n", error.what());
    return 1;
  }
}
