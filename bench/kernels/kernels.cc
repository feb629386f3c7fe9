// Generated kernels against the best of oneDNN, for every distinct convolution and matrix product of a model: CSV on
// stdout. `--compile` only fills the compile cache, so that a second run on a quiet machine times and nothing else.
#include "race.h"

#include "base/parallel.h"
#include "device/cpu/ceilings.h"
#include "providers/generated/cube_generators.h"
#include "providers/providers.h"
#include "runtime/layout_policy.h"
#include "runtime/load_session.h"
#include "runtime/plan.h"
#include "runtime/random_inputs.h"
#include "tune/measure/check_kernel.h"

#include <CLI/CLI.hpp>
#include <sched.h>

#include <algorithm>
#include <iostream>
#include <map>

namespace attune::bench {
namespace {

struct Arguments {
  std::string model, dtype = "f32";
  size_t configs = 10;
  bool compile_only = false, realtime = false, verify = false;
  std::string only;
  RaceOptions race;
};

struct Entry {
  Workload workload;
  int count = 0;
};

bool is_product(const Workload& workload) {
  return workload.op == "Conv" || workload.op == "FusedConv" || workload.op == "MatMul" || workload.op == "FusedMatMul";
}
bool is_conv(const Workload& workload) { return workload.op.find("Conv") != std::string::npos; }

std::vector<Entry> workloads_of(const Arguments& arguments) {
  SessionOptions options;
  options.providers = {"native", "onednn", "reference"};
  options.dtype = arguments.dtype == "bf16" ? DType::bf16 : DType::f32;
  const Session session = load_session(arguments.model, options);
  const auto plan = session.plan(random_inputs(session.graph(), {}, 1));
  std::map<std::string, size_t> index;
  std::vector<Entry> entries;
  for (const Step& step : plan->steps) {
    if (step.node == nullptr || !is_product(step.workload)) continue;
    const auto [at, added] = index.emplace(with_layout(step.workload, Layout::plain).key(), entries.size());
    if (added) entries.push_back({step.workload, 0});
    ++entries[at->second].count;
  }
  return entries;
}

double flops_of(const Workload& workload) {
  const Dims& weights = workload.input(1).dims;
  const auto count = [](const Dims& dims) { return static_cast<double>(element_count(dims)); };
  if (is_conv(workload)) return 2 * count(workload.output(0).dims) * count(weights) / static_cast<double>(weights[0]);
  return 2 * count(workload.input(0).dims) * static_cast<double>(weights.back());
}

/// What the aims distinguish.
std::string class_of(const Workload& workload) {
  if (!is_conv(workload)) return "matmul";
  const Dims &src = workload.input(0).dims, &weights = workload.input(1).dims;
  const bool pointwise = element_count(weights) == weights[0] * weights[1];
  if (weights[1] == 1 && src[1] > 1) return "depthwise";
  if (pointwise) return src[1] % 16 != 0 || weights[0] % 16 != 0 ? "1x1 awkward" : "1x1";
  return "kxk";
}

/// Leaves out the generated kernels that break a promise, with the reason on stderr: only what is right is timed.
void drop_wrong(std::vector<Candidate>& candidates, const Workload& workload) {
  Workload plain = workload;
  for (auto* specs : {&plain.inputs, &plain.outputs})
    for (auto& spec : *specs)
      if (spec) spec->layout = Layout::plain;
  WorkloadCase what = case_of(plain);
  tune::suit_contents(what);
  const tune::Example example = tune::make_example(what, 1);
  std::erase_if(candidates, [&](const Candidate& one) {
    if (one.side != "generated") return false;
    const auto kernel = one.provider->build(one.workload, one.config);
    const auto check = tune::check_kernel(*kernel, one.workload, example, tune::TaskSpread::pool);
    if (!check.problem.empty())
      std::cerr << "wrong: " << one.workload.key() << ' ' << to_text(one.config) << ": " << check.problem << '\n';
    return !check.problem.empty();
  });
}

std::vector<Candidate> candidates_for(const Entry& entry, size_t most) {
  std::vector<Candidate> candidates;
  const Provider &generated = require_provider("generated"), &onednn = require_provider("onednn");
  const std::vector<Layout> layouts =
      is_conv(entry.workload) ? std::vector<Layout>{Layout::nhwc, Layout::nchw16c} : std::vector<Layout>{Layout::plain};
  for (const Layout layout : layouts) {
    const Workload workload = with_layout(entry.workload, layout);
    std::map<std::string, size_t> taken;  // of each generator
    for (const Config& config : cube_sweep(workload))
      if (taken[config.at("generator")]++ < most) candidates.push_back({"generated", workload, config, &generated});
    const auto offer = onednn.offer(workload);
    if (const auto* found = std::get_if<Offer>(&offer))
      for (const Config& config : found->configs) {
        const auto algorithm = config.find("algorithm");
        const bool winograd = algorithm != config.end() && algorithm->second == "winograd";
        candidates.push_back({winograd ? "onednn winograd" : "onednn direct", workload, config, &onednn});
      }
  }
  return candidates;
}

/// Threads that nobody preempts, for machines that others use as well; back to normal between workloads.
class RealtimeScope {
 public:
  explicit RealtimeScope(bool on) : on_(on) { set(on_ ? SCHED_FIFO : SCHED_OTHER, on_ ? 5 : 0); }
  ~RealtimeScope() { set(SCHED_OTHER, 0); }
  RealtimeScope(const RealtimeScope&) = delete;
  RealtimeScope& operator=(const RealtimeScope&) = delete;

 private:
  void set(int policy, int priority) const {
    if (!on_) return;
    run_team(thread_count(), [&](int, int) {
      sched_param parameter{};
      parameter.sched_priority = priority;
      sched_setscheduler(0, policy, &parameter);
    });
  }
  bool on_;
};

std::string quoted(const std::string& text) { return '"' + text + '"'; }

void print_row(const Arguments& arguments, const Entry& entry, const std::vector<Finalist>& finalists, double peak) {
  const auto find = [&](std::string_view side) -> const Finalist* {
    for (const Finalist& one : finalists)
      if (one.candidate.side == side) return &one;
    return nullptr;
  };
  const Finalist *own = find("generated"), *direct = find("onednn direct"), *winograd = find("onednn winograd");
  if (own == nullptr || direct == nullptr) {
    std::cerr << "no pair for " << entry.workload.key() << '\n';
    return;
  }
  const Ratio ratio = speedup(*own, *direct);
  const double rate = flops_of(entry.workload) / own->median_us / 1000;
  std::string layout = std::string(layout_name(own->candidate.workload.input(0).layout));
  std::cout << fmt::format("{},{},{},{},{},{:.1f},{:.1f},{:.3f},{:.3f},{:.3f},{},{:.0f},{:.1f},{},{},{},{}\n", arguments.model,
                           arguments.dtype, class_of(entry.workload), entry.count, quoted(with_layout(entry.workload, Layout::plain).key()),
                           own->median_us, direct->median_us, ratio.median, ratio.low, ratio.high,
                           winograd ? fmt::format("{:.1f}", winograd->median_us) : "", rate, 100 * rate / peak, layout,
                           layout_name(direct->candidate.workload.input(0).layout), quoted(to_text(own->candidate.config)),
                           quoted(to_text(direct->candidate.config)));
  std::cout.flush();
}

int run(const Arguments& arguments) {
  const auto entries = workloads_of(arguments);
  double peak = 1;
  if (!arguments.compile_only) {
    CeilingOptions options;
    options.memory_bytes = 64 << 20;  // bandwidth is not looked at here
    const auto ceilings = measure_ceilings(cpu_info(), options);
    for (const char* id : {"f32", "bf16", "amx_bf16"})
      if ((arguments.dtype == "bf16") == (std::string_view(id) != "f32"))
        if (const Ceiling* ceiling = find_ceiling(ceilings, id)) peak = std::max(peak, ceiling->all_threads);
    std::cout << "model,dtype,class,count,workload,generated_us,onednn_us,speedup,low,high,winograd_us,gflops,percent_of_peak,layout,onednn_layout,config,onednn_config\n";
  }
  for (const Entry& entry : entries) {
    if (!arguments.only.empty() && class_of(entry.workload) != arguments.only) continue;
    auto candidates = candidates_for(entry, arguments.configs);
    if (arguments.compile_only) {
      parallel_for(static_cast<int64_t>(candidates.size()), 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const Candidate& one = candidates[static_cast<size_t>(i)];
          if (one.side == "generated") static_cast<void>(one.provider->build(one.workload, one.config));
        }
      });
      continue;
    }
    if (arguments.verify) drop_wrong(candidates, entry.workload);
    const RealtimeScope realtime(arguments.realtime);
    print_row(arguments, entry, race(candidates, arguments.race), peak);
  }
  return 0;
}

}  // namespace
}  // namespace attune::bench

int main(int argc, char** argv) {
  attune::bench::Arguments arguments;
  CLI::App app("generated kernels against oneDNN");
  app.add_option("model", arguments.model, "zoo:NAME[:batch=N] or an ONNX file")->required();
  app.add_option("--dtype", arguments.dtype, "f32 or bf16");
  app.add_option("--configs", arguments.configs, "How many configurations of the sweep, of each generator");
  app.add_option("--rounds", arguments.race.rounds, "Interleaved rounds");
  app.add_option("--only", arguments.only, "One class: matmul, 1x1, '1x1 awkward', kxk, depthwise");
  app.add_flag("--verify", arguments.verify, "Check every generated kernel against the reference before timing it");
  app.add_flag("--compile", arguments.compile_only, "Only fill the compile cache");
  app.add_flag("--realtime", arguments.realtime, "Ask for real-time scheduling while timing");
  CLI11_PARSE(app, argc, argv);
  try {
    return attune::bench::run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "bench_kernels: " << error.what() << '\n';
    return 1;
  }
}
