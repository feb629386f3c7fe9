// Eight threads share one session. Each writes into memory of its own; all must get the bits of a lone run.
#include <attune/attune.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  try {
    attune::SessionOptions options;
    options.threads = 1;  // eight runs at once keep the cores busy; each needs no more than its own thread
    const attune::Session session(argc > 1 ? argv[1] : "zoo:lenet", options);

    const attune::ValueInfo& input = session.inputs().at(0);
    attune::Shape shape;
    for (const attune::Dimension& dim : input.shape) shape.push_back(dim.is_known() ? dim.size : 1);
    attune::Tensor image(input.dtype, shape);
    for (size_t i = 0; i < image.count(); ++i) image.data_as<float>()[i] = static_cast<float>(i % 255) / 255;

    const std::string name = session.outputs().at(0).name;
    const attune::Outputs lone = session.run({{input.name, image}});
    const attune::Tensor& expected = lone.at(name);

    std::vector<int> wrong(8, 0);
    std::vector<std::thread> threads;
    for (int& mistakes : wrong)
      threads.emplace_back([&] {
        try {
          attune::Tensor result(expected.dtype(), expected.shape());
          for (int i = 0; i < 50; ++i) {
            session.run({{input.name, image}}, {{name, result}});
            if (std::memcmp(result.data(), expected.data(), expected.bytes()) != 0) ++mistakes;
          }
        } catch (const std::exception& error) {
          std::fprintf(stderr, "concurrent: %s\n", error.what());
          ++mistakes;
        }
      });
    for (std::thread& thread : threads) thread.join();

    int total = 0;
    for (const int mistakes : wrong) total += mistakes;
    std::printf("400 runs in 8 threads, %d differ\n", total);
    return total == 0 ? 0 : 1;
  } catch (const attune::Error& error) {
    std::fprintf(stderr, "concurrent: %s\n", error.what());
    return 1;
  }
}
