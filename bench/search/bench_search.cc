// Scores every search on recorded tables: bench_search [--seeds N] [--threads N] [--only NAME] [--variants] TABLE...
// Prints Markdown: docs/performance/search.md holds its output.
#include "contenders.h"

#include "base/error.h"

#include <CLI/CLI.hpp>

#include <atomic>
#include <thread>

namespace attune::bench {
namespace {

struct Settings {
  int seeds = 50, threads = 1;
  Extent extent = Extent::whole;
  bool per_table = false;
};

struct Job {
  const Table* table;
  const Contender* contender;
  Score* score;
};

void run_jobs(const std::vector<Job>& jobs, const Settings& settings) {
  std::atomic<size_t> next = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < settings.threads; ++i)
    workers.emplace_back([&] {
      for (size_t at = next++; at < jobs.size(); at = next++)
        *jobs[at].score = score_on(*jobs[at].table, *jobs[at].contender, settings.seeds, settings.extent);
    });
  for (std::thread& worker : workers) worker.join();
}

using Scores = std::vector<std::vector<Score>>;  // of each contender on each table

Scores score_all(const std::vector<Table>& tables, const std::vector<Contender>& contenders, const Settings& settings) {
  Scores scores(contenders.size(), std::vector<Score>(tables.size()));
  std::vector<Job> jobs;
  for (size_t c = contenders.size(); c-- > 0;)  // the slow ones are listed last
    for (size_t t = 0; t < tables.size(); ++t) jobs.push_back({&tables[t], &contenders[c], &scores[c][t]});
  run_jobs(jobs, settings);
  return scores;
}

template <class Get> std::vector<double> column(const std::vector<Score>& scores, const Get& get) {
  std::vector<double> values;
  for (const Score& score : scores) values.push_back(get(score));
  return values;
}

void print_shipped(const std::vector<Table>& tables, const std::vector<Contender>& contenders, const Scores& scores) {
  fmt::print("| search | score 20–100 [95 %] | worst table | score 101–200 | within 5 % at 25 / 50 / 100 / 200 |\n");
  fmt::print("|---|---|---|---|---|\n");
  std::vector<double> exact[kChecked];
  for (const Table& table : tables)
    for (int c = 0; c < kChecked; ++c) exact[c].push_back(table.random_near[c]);
  fmt::print("| random, exact | 0 | | 0 |");
  for (int c = 0; c < kChecked; ++c) fmt::print(" {}{:.2f}", c ? "/ " : "", summarize_families(tables, exact[c]).mean);
  fmt::print(" |\n");
  for (size_t i = 0; i < contenders.size(); ++i) {
    const auto early = column(scores[i], [](const Score& score) { return score.early; });
    const auto late = column(scores[i], [](const Score& score) { return score.late; });
    const Summary summary = summarize_families(tables, early);
    fmt::print("| {} | {:.2f} [{:.2f}, {:.2f}] | {:+.2f} | {:.2f} |", contenders[i].name, summary.mean, summary.low,
               summary.high, *std::ranges::min_element(early), summarize_families(tables, late).mean);
    for (int c = 0; c < kChecked; ++c) {
      const auto near = column(scores[i], [c](const Score& score) { return score.near[c]; });
      fmt::print(" {}{:.2f}", c ? "/ " : "", summarize_families(tables, near).mean);
    }
    fmt::print(" |\n");
  }
}

void print_tables(const std::vector<Table>& tables, const std::vector<Contender>& contenders, const Scores& scores) {
  fmt::print(
      "\nScore 20–100, and the share of runs within 5 % at 100, on each table:\n\n| table | points | failed | "
      "within 5 % |");
  for (const Contender& contender : contenders) fmt::print(" {} |", contender.name);
  fmt::print("\n|---|---|---|---|");
  for (size_t i = 0; i < contenders.size(); ++i) fmt::print("---|");
  fmt::print("\n");
  for (size_t t = 0; t < tables.size(); ++t) {
    const auto& times = tables[t].replay.sorted_times();
    const auto size = static_cast<double>(tables[t].replay.space().size());
    const auto near = std::ranges::upper_bound(times, 1.05 * times.front()) - times.begin();
    fmt::print("| {} | {} | {} | {:.2f} % |", tables[t].name, size, size - static_cast<double>(times.size()),
               100 * static_cast<double>(near) / size);
    for (size_t i = 0; i < contenders.size(); ++i)
      fmt::print(" {:+.2f}, {:.2f} |", scores[i][t].early, scores[i][t].near[2]);
    fmt::print("\n");
  }
}

/// For each family the setting that does best on all others; its score there, against the setting that ships.
void print_variants(const std::vector<Table>& tables, const VariantGroup& group, const Settings& settings) {
  const Scores scores = score_all(tables, group.variants, settings);
  std::set<std::string> families;
  for (const Table& table : tables) families.insert(table.family);
  std::vector<std::vector<double>> early;
  for (const auto& of_variant : scores)
    early.push_back(column(of_variant, [](const Score& score) { return score.early; }));
  std::vector<double> left_out(tables.size());
  for (const std::string& family : families) {
    std::vector<Table> others;
    std::vector<size_t> kept;
    for (size_t t = 0; t < tables.size(); ++t)
      if (tables[t].family != family) kept.push_back(t);
    for (const size_t t : kept) others.push_back(tables[t]);
    size_t chosen = 0;
    double best = -1e9;
    for (size_t v = 0; v < early.size(); ++v) {
      std::vector<double> values;
      for (const size_t t : kept) values.push_back(early[v][t]);
      if (const double mean = summarize_families(others, values).mean; mean > best) {
        best = mean;
        chosen = v;
      }
    }
    for (size_t t = 0; t < tables.size(); ++t)
      if (tables[t].family == family) left_out[t] = early[chosen][t];
  }
  fmt::print("| {} |", group.name);
  for (size_t v = 0; v < early.size(); ++v)
    fmt::print("{} {} {:.3f} ({:.2f})", v ? ";" : "", group.variants[v].name, summarize_families(tables, early[v]).mean,
               summarize_families(tables, column(scores[v], [](const Score& score) { return score.near[2]; })).mean);
  fmt::print(" | {:.3f} |\n", summarize_families(tables, left_out).mean);
  std::fflush(stdout);
  if (!settings.per_table) return;
  for (size_t v = 0; v < early.size(); ++v) {
    fmt::print(stderr, "{:16}", group.variants[v].name);
    for (size_t t = 0; t < tables.size(); ++t) fmt::print(stderr, " {:+.2f},{:.2f}", early[v][t], scores[v][t].near[2]);
    fmt::print(stderr, "\n");
  }
}

int run(int count, char** arguments) {
  CLI::App app("Scores searches on recorded tables");
  Settings settings;
  std::string only;
  bool with_variants = false;
  std::vector<std::string> paths;
  app.add_option("--seeds", settings.seeds, "runs of each search on each table");
  app.add_option("--threads", settings.threads, "tables at a time");
  app.add_option("--only", only, "one search, or one group of variants");
  app.add_flag("--variants", with_variants, "compare settings, each family judged by what is best on the others");
  app.add_flag("--per-table", settings.per_table, "with --variants: how each does on each table, to stderr");
  app.add_option("TABLE", paths)->required();
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  std::vector<Table> tables;
  for (const std::string& path : paths) tables.push_back(load_table(path));
  if (with_variants) {
    settings.extent = Extent::early;
    fmt::print(
        "| search | its settings: mean score 20–100 (within 5 % at 100) | chosen on other families |\n|---|---|---|\n");
    for (const VariantGroup& group : variant_groups())
      if (only.empty() || only == group.name) print_variants(tables, group, settings);
    return 0;
  }
  std::vector<Contender> contenders = shipped_contenders();
  if (!only.empty()) std::erase_if(contenders, [&](const Contender& contender) { return contender.name != only; });
  const Scores scores = score_all(tables, contenders, settings);
  print_shipped(tables, contenders, scores);
  print_tables(tables, contenders, scores);
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int count, char** arguments) {
  try {
    return attune::bench::run(count, arguments);
  } catch (const attune::Error& error) {
    fmt::print(stderr, "bench_search: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
