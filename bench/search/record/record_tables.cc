// Measures whole spaces of small CPU kernels and writes them as tables: record_tables [--refine] OUTPUT NAME...
//
// Every configuration is checked against the default's result, then timed in three rounds, each in a fresh random
// order. A sample is the ratio to the default, timed just before and after it; the median of three counts. What is
// fastest of thousands was also lucky, so the fastest tenth is then timed in nine more rounds, of which alone the
// median counts.
// --refine repeats only that last part, for a table that is there.
#include "family.h"

#include "base/error.h"
#include "base/statistics.h"
#include "tune/search/replay.h"

#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace attune::bench {

std::vector<float> random_floats(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(2 * random.uniform() - 1);
  return values;
}

namespace {

constexpr int kRounds = 3, kRefiningRounds = 9;
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

/// How a space did: the time of its default, and for each point the ratio to it; nothing where the result was wrong.
struct Results {
  double default_ms = 0;
  std::vector<std::optional<double>> ratios;
};

/// Runs every point's configuration and compares what it computes with the default's result.
Results check_all(const Problem& problem) {
  const Space& space = problem.space;
  problem.run(space.default_config());
  const std::vector<float> expected = problem.output();
  Results results{0, std::vector<std::optional<double>>(space.size())};
  for (uint64_t index = 0; index < space.size(); ++index) {
    std::ranges::fill(problem.output(), NAN);
    problem.run(space.at(index));
    // Borders that no configuration writes are left as they are poisoned.
    std::vector<float> got = problem.output();
    for (size_t i = 0; i < got.size(); ++i)
      if (std::isnan(got[i]) && expected[i] == 0) got[i] = 0;
    if (is_right(expected, got)) results.ratios[index] = 1;
  }
  return results;
}

/// Times some points and replaces their ratios. Returns the median time of the default.
double time_points(const Problem& problem, std::vector<uint64_t> points, int rounds, Results& results) {
  const Config& standard = problem.space.default_config();
  const int repeats = std::max(1, static_cast<int>(std::ceil(kMinSampleMs / time_ms(problem, standard, 3))));
  std::map<uint64_t, std::vector<double>> samples;
  std::vector<double> anchors;
  Random random(1);
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = points.size(); i-- > 1;)
      std::swap(points[i], points[static_cast<size_t>(random.below(static_cast<int64_t>(i) + 1))]);
    for (const uint64_t index : points) {
      const Config config = problem.space.at(index);
      const double before = time_ms(problem, standard, repeats), taken = time_ms(problem, config, repeats),
                   after = time_ms(problem, standard, repeats);
      anchors.push_back(before);
      anchors.push_back(after);
      samples[index].push_back(taken / std::min(before, after));
    }
  }
  for (auto& [index, ratios] : samples) results.ratios[index] = median_of(std::move(ratios));
  return median_of(std::move(anchors));
}

std::vector<uint64_t> fastest_tenth(const Results& results) {
  std::vector<uint64_t> points;
  for (uint64_t index = 0; index < results.ratios.size(); ++index)
    if (results.ratios[index]) points.push_back(index);
  std::ranges::sort(points, {}, [&](uint64_t index) { return *results.ratios[index]; });
  points.resize((points.size() + 9) / 10);
  return points;
}

Results measure(const Problem& problem) {
  Results results = check_all(problem);
  std::vector<uint64_t> points;
  for (uint64_t index = 0; index < results.ratios.size(); ++index)
    if (results.ratios[index]) points.push_back(index);
  results.default_ms = time_points(problem, std::move(points), kRounds, results);
  return results;
}

Results read(const Problem& problem, const std::string& path) {
  const auto table = tune::ReplayTable::read(path);
  const auto find = [&](const Config& config) { return table.measure(table.space().index_of(config).value()); };
  Results results{find(problem.space.default_config()).cost, {}};
  for (uint64_t index = 0; index < problem.space.size(); ++index) {
    const auto known = find(problem.space.at(index));
    results.ratios.push_back(known.outcome == Outcome::ok ? std::optional(known.cost / results.default_ms)
                                                          : std::nullopt);
  }
  return results;
}

std::string to_table(const Problem& problem, const Results& results) {
  const Space& space = problem.space;
  std::string text = fmt::format("# {}\n", problem.description);
  for (const auto& parameter : space.parameters()) text += parameter->name + ",";
  text += "ms\n";
  for (uint64_t index = 0; index < space.size(); ++index) {
    const Config config = space.at(index);
    for (const auto& parameter : space.parameters()) {
      const auto value = config.find(parameter->name);
      text += (value == config.end() ? "" : value->second) + ",";
    }
    const auto& ratio = results.ratios[index];
    text += ratio ? fmt::format("{:.4g}\n", *ratio * results.default_ms) : "wrong\n";
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
  const bool is_refining = count > 1 && std::string_view(arguments[1]) == "--refine";
  if (is_refining) {
    --count;
    ++arguments;
  }
  if (count < 3) {
    fmt::print("usage: record_tables [--refine] OUTPUT NAME...\n");
    for (const Problem& problem : problems) fmt::print("  {}: {} points\n", problem.name, problem.space.size());
    return 2;
  }
  for (const Problem& problem : problems) {
    if (std::none_of(arguments + 2, arguments + count, [&](const char* name) { return problem.name == name; }))
      continue;
    const std::string path = fmt::format("{}/{}.csv.gz", arguments[1], problem.name);
    Results results = is_refining ? read(problem, path) : measure(problem);
    time_points(problem, fastest_tenth(results), kRefiningRounds, results);
    write_gz(path, to_table(problem, results));
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
