// Tunes a layer normalisation of one's own over three weighted shapes, keeps the record, and applies it: to a shape
// that was measured and to one that was not.
#include <attune/attune.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

// Partial sums in `kLanes` places, so that the compiler can keep them in vector registers.
template <int kLanes> void normalize_row(const float* src, float* dst, int64_t columns, bool one_pass) {
  float sum[kLanes] = {}, squares[kLanes] = {};
  const auto add_up = [&](float* partial, auto term) {
    int64_t i = 0;
    for (; i + kLanes <= columns; i += kLanes)
      for (int lane = 0; lane < kLanes; ++lane) partial[lane] += term(src[i + lane]);
    for (; i < columns; ++i) partial[0] += term(src[i]);
    float total = 0;
    for (int lane = 0; lane < kLanes; ++lane) total += partial[lane];
    return total / static_cast<float>(columns);
  };
  const float mean = add_up(sum, [](float x) { return x; });
  const float variance = one_pass ? add_up(squares, [](float x) { return x * x; }) - mean * mean
                                  : add_up(squares, [mean](float x) { return (x - mean) * (x - mean); });
  const float scale = 1 / std::sqrt(variance + 1e-5f);
  for (int64_t i = 0; i < columns; ++i) dst[i] = (src[i] - mean) * scale;
}

using NormalizeRow = void (*)(const float*, float*, int64_t, bool);

NormalizeRow row_function(int64_t lanes) {
  switch (lanes) {
    case 1: return normalize_row<1>;
    case 4: return normalize_row<4>;
    case 16: return normalize_row<16>;
    default: return normalize_row<64>;
  }
}

void layernorm(const float* src, float* dst, const attune::Shape& shape, const attune::Config& config) {
  const int64_t rows = shape[0], columns = shape[1], threads = config.number("threads");
  const NormalizeRow normalize = row_function(config.number("lanes"));
  const bool one_pass = config.flag("one_pass");
  const auto work = [&](int64_t first, int64_t stride, int64_t chunk) {
    for (int64_t begin = first; begin < rows; begin += stride)
      for (int64_t row = begin; row < std::min(begin + chunk, rows); ++row)
        normalize(src + row * columns, dst + row * columns, columns, one_pass);
  };
  if (threads == 1) return work(0, rows, rows);
  const int64_t chunk = config.number("chunk");
  std::vector<std::thread> others;
  for (int64_t t = 1; t < threads; ++t) others.emplace_back(work, t * chunk, threads * chunk, chunk);
  work(0, threads * chunk, chunk);
  for (std::thread& thread : others) thread.join();
}

// What may be chosen, for one shape. A chunk of rows is there to choose where several threads share them out.
attune::Space space_of(const attune::Shape& shape) {
  attune::Space space;
  const attune::Param lanes = space.ordinal("lanes", {1, 4, 16, 64});
  const attune::Param threads = space.ordinal("threads", {1, 2, 4});
  const attune::Param chunk = space.power_of_two("chunk", 1, 64);
  space.boolean("one_pass");
  space.only_if(chunk, threads > 1);
  space.require(lanes <= shape[1], "a row fills the lanes");
  space.require(threads * chunk <= shape[0], "every thread gets rows");
  space.set_default({{"lanes", 1}, {"threads", 1}, {"one_pass", false}});
  return space;
}

struct Data {
  std::vector<float> src, dst;
  explicit Data(const attune::Shape& shape)
      : src(static_cast<size_t>(shape[0] * shape[1])), dst(src.size(), std::nanf("")) {
    uint32_t state = 1;
    for (float& x : src) x = static_cast<float>((state = state * 1664525 + 1013904223) >> 8) / 8388608 - 1;
  }
};

// Against sums in double; what is wrong, in words.
std::string check(const Data& data, const attune::Shape& shape) {
  const auto columns = static_cast<size_t>(shape[1]);
  for (size_t row = 0; row < static_cast<size_t>(shape[0]); ++row) {
    const float* src = data.src.data() + row * columns;
    double mean = 0, variance = 0;
    for (size_t i = 0; i < columns; ++i) mean += src[i] / static_cast<double>(columns);
    for (size_t i = 0; i < columns; ++i) variance += (src[i] - mean) * (src[i] - mean) / static_cast<double>(columns);
    for (size_t i = 0; i < columns; ++i) {
      const double expected = (src[i] - mean) / std::sqrt(variance + 1e-5);
      const double error = std::abs(expected - data.dst[row * columns + i]);
      if (!(error < 1e-4)) return "row " + std::to_string(row) + " is off by " + std::to_string(error);
    }
  }
  return "";
}

attune::Computation computation() {
  attune::Computation result;
  result.name = "layernorm";
  result.version = "1";
  result.dims = {"rows", "columns"};
  result.space = space_of;
  result.build = [](const attune::Shape& shape, const attune::Config& config) {
    auto data = std::make_shared<Data>(shape);
    attune::Candidate candidate;
    candidate.run = [=] { layernorm(data->src.data(), data->dst.data(), shape, config); };
    candidate.check = [=] { return check(*data, shape); };
    return candidate;
  };
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    attune::TuneOptions options;
    options.trials = 60;
    options.record = argc > 1 ? argv[1] : "record.json";
    options.on_trial = [](const attune::TuneTrial& trial) {
      if (trial.outcome != attune::TrialOutcome::ok)
        std::fprintf(stderr, "%s: %s %s\n", trial.config.to_text().c_str(), attune::outcome_name(trial.outcome),
                     trial.message.c_str());
    };
    const attune::Tuner tuner(computation());
    const attune::TuneSummary summary = tuner.search({{{8, 256}, 1}, {{128, 768}, 4}, {{1024, 1024}, 2}}, options);
    for (const attune::TunedShape& shape : summary.shapes)
      std::printf("%lldx%lld: %.2fx (%.2f to %.2f) with %s\n", static_cast<long long>(shape.shape[0]),
                  static_cast<long long>(shape.shape[1]), shape.speedup, shape.speedup_low, shape.speedup_high,
                  shape.config.to_text().c_str());
    if (summary.has_overall)
      std::printf("all: %.2fx with %s\n", summary.overall_speedup, summary.overall.to_text().c_str());

    // Later, perhaps in another program: nothing is measured any more.
    const attune::TunedComputation tuned = tuner.apply(options.record);
    for (const attune::Shape& shape : {attune::Shape{128, 768}, attune::Shape{100, 800}}) {
      const attune::Choice choice = tuned.choose(shape);
      Data data(shape);
      layernorm(data.src.data(), data.dst.data(), shape, choice.config);
      const std::string wrong = check(data, shape);
      std::printf("apply: %s (%s)\n", choice.why.c_str(), wrong.empty() ? "right" : wrong.c_str());
      if (!wrong.empty()) return 1;
    }
    return 0;
  } catch (const attune::Error& error) {
    std::fprintf(stderr, "layernorm: %s\n", error.what());
    return 1;
  }
}
