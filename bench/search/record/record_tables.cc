// Measures whole spaces of small CPU kernels and writes them as tables: record_tables OUTPUT [NAME...]
//
// Every configuration is checked against the default's result, then timed in three rounds, each in a fresh random order.
// A sample is the ratio to the default, timed just before and after it; the table holds the median ratio times the
// median time of the default.
#include "family.h"

#include "base/error.h"
#include "base/statistics.h"

#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace attune::bench {

std::vector<float> random_floats(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(2 * random.uniform() - 1);
  return values;
}

namespace {

constexpr int kRounds = 3;
constexpr double kMinSampleMs = 0.15;  // short kernels are repeated within a sample

double time_ms(const Problem& problem, const Config& config, int repeats) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) problem.run(config);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  return taken.count() / repeats;
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return quantile(values, 0.5);
}

bool is_right(const std::vector<float>& expected, const std::vector<float>& got) {
  for (size_t i = 0; i < expected.size(); ++i)
    if (!(std::abs(got[i] - expected[i]) <= 1e-3f + 1e-3f * std::abs(expected[i]))) return false;
  return true;
}

std::string record(const Problem& problem) {
  const Space& space = problem.space;
  const Config& standard = space.default_config();
  problem.run(standard);
  const std::vector<float> expected = problem.output();
  const int repeats = std::max(1, static_cast<int>(std::ceil(kMinSampleMs / time_ms(problem, standard, 3))));

  std::vector<std::vector<double>> ratios(space.size());
  std::vector<bool> is_wrong(space.size(), false);
  std::vector<double> anchors;
  Random random(1);
  std::vector<uint64_t> order(space.size());
  std::iota(order.begin(), order.end(), 0);
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[static_cast<size_t>(random.below(static_cast<int64_t>(i) + 1))]);
    for (const uint64_t index : order) {
      const Config config = space.at(index);
      if (round == 0) {
        std::ranges::fill(problem.output(), NAN);
        problem.run(config);
        // Borders that no configuration writes are left as they are poisoned.
        std::vector<float> got = problem.output();
        for (size_t i = 0; i < got.size(); ++i)
          if (std::isnan(got[i]) && expected[i] == 0) got[i] = 0;
        is_wrong[index] = !is_right(expected, got);
      }
      const double before = time_ms(problem, standard, repeats), taken = time_ms(problem, config, repeats),
                   after = time_ms(problem, standard, repeats);
      anchors.push_back(before);
      anchors.push_back(after);
      ratios[index].push_back(taken / std::min(before, after));
    }
  }
  const double anchor = median_of(anchors);
  std::string text = fmt::format("# {}\n", problem.description);
  for (const auto& parameter : space.parameters()) text += parameter->name + ",";
  text += "ms\n";
  for (uint64_t index = 0; index < space.size(); ++index) {
    const Config config = space.at(index);
    for (const auto& parameter : space.parameters()) {
      const auto value = config.find(parameter->name);
      text += (value == config.end() ? "" : value->second) + ",";
    }
    text += is_wrong[index] ? "wrong\n" : fmt::format("{:.4g}\n", median_of(ratios[index]) * anchor);
  }
  return text;
}

void write_gz(const std::string& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb9");
  if (file == nullptr) throw UserError("cannot write '{}'; does its folder exist?", path);
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

int run(int count, char** arguments) {
  std::vector<Problem> problems;
  for (auto* make : {gemm_problems, stencil_problems, softmax_problems, transpose_problems})
    for (Problem& problem : make()) problems.push_back(std::move(problem));
  if (count < 2) {
    fmt::print("usage: record_tables OUTPUT NAME...\n");
    for (const Problem& problem : problems) fmt::print("  {}: {} points\n", problem.name, problem.space.size());
    return 2;
  }
  for (const Problem& problem : problems) {
    if (std::none_of(arguments + 2, arguments + count, [&](const char* name) { return problem.name == name; })) continue;
    write_gz(fmt::format("{}/{}.csv.gz", arguments[1], problem.name), record(problem));
    fmt::print("{}: {} points\n", problem.name, problem.space.size());
  }
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int count, char** arguments) {
  try {
    return attune::bench::run(count, arguments);
  } catch (const attune::Error& error) {
    fmt::print(stderr, "record_tables: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
