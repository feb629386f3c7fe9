#include "tune/hostile_provider.h"

#include "providers/providers.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace attune::testing {
namespace {

/// What a kind does in a run, after the right result was written.
struct Call {
  const KernelArguments& arguments;
  int64_t count;   // of elements
  int64_t number;  // how many runs there were before
  float* output() const { return reinterpret_cast<float*>(arguments.outputs[0]); }
  float* input() const { return const_cast<float*>(reinterpret_cast<const float*>(arguments.inputs[0])); }
};
using Deed = std::function<void(const Call&)>;

std::atomic<uint64_t> sink;

[[noreturn]] void spin_forever() {
  for (;;) sink.fetch_add(1, std::memory_order_relaxed);
}

int64_t overflow_stack(int64_t depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : overflow_stack(depth + 1) + frame[0];
}

void take_all_memory() {
  static std::vector<std::unique_ptr<char[]>> taken;
  for (;;) taken.push_back(std::make_unique_for_overwrite<char[]>(16 << 20));
}

constexpr int64_t kRunsOfVerification = 40;  // more than that happens only when it is timed

const std::map<std::string_view, Deed>& deeds() {
  static const std::map<std::string_view, Deed> list = {
      {"segfault", [](const Call&) { *reinterpret_cast<volatile int*>(sink.load() & 7) = 1; }},
      {"abort", [](const Call&) { std::abort(); }},
      {"illegal instruction", [](const Call&) { __builtin_trap(); }},
      {"divide by zero",
       [](const Call& call) { sink += 1 / (sink.load() & static_cast<uint64_t>(call.number >> 60)); }},
      {"stack overflow", [](const Call&) { sink += static_cast<uint64_t>(overflow_stack(1)); }},
      {"throws", [](const Call&) { throw std::runtime_error("a kernel that gives up"); }},
      {"hangs", [](const Call&) { spin_forever(); }},
      {"stops itself", [](const Call&) { std::raise(SIGSTOP); }},
      {"exits", [](const Call&) { std::_Exit(0); }},
      {"exits in order", [](const Call&) { std::exit(0); }},
      {"writes before", [](const Call& call) { call.output()[-1] = 1; }},
      {"writes after", [](const Call& call) { call.output()[call.count + 3] = 1; }},
      {"writes far after", [](const Call& call) { std::memset(call.output(), 1, size_t{1} << 32); }},
      {"changes its input", [](const Call& call) { call.input()[call.count / 2] += 1; }},
      {"returns NaN",
       [](const Call& call) { call.output()[call.count - 1] = std::numeric_limits<float>::quiet_NaN(); }},
      {"slightly wrong", [](const Call& call) { call.output()[call.count / 3] += 0.001F; }},
      {"depends on the run", [](const Call& call) { call.output()[0] += call.number % 2 == 1 ? 1e-7F : 0; }},
      {"returns stale results",
       [](const Call& call) {
         static std::map<const void*, std::vector<float>> kept;
         const auto [found, is_new] = kept.try_emplace(call.arguments.inputs[0]);
         if (is_new) found->second.assign(call.output(), call.output() + call.count);
         std::copy(found->second.begin(), found->second.end(), call.output());
       }},
      {"stops computing when it is timed",
       [](const Call& call) {
         if (call.number > kRunsOfVerification) std::memset(call.output(), 0xFF, 4 * static_cast<size_t>(call.count));
       }},
      {"crashes when it is timed",
       [](const Call& call) {
         if (call.number > kRunsOfVerification) std::abort();
       }},
      {"hangs when it is timed",
       [](const Call& call) {
         if (call.number > kRunsOfVerification) spin_forever();
       }},
      {"takes all memory", [](const Call&) { take_all_memory(); }},
      {"forks", [](const Call&) { static_cast<void>(fork()); }},
      {"kills its parent", [](const Call&) { kill(getppid(), SIGTERM); }},
      {"kills its group", [](const Call&) { kill(0, SIGKILL); }},
      {"writes into the connection",
       [](const Call&) {
         const std::string junk(1000, 'j');
         static_cast<void>(!write(3, junk.data(), junk.size()));
       }},
      {"floods stdout",
       [](const Call&) {
         const std::string junk(4000, 'j');
         for (;;) static_cast<void>(!write(1, junk.data(), junk.size()));
       }},
      {"closes everything",
       [](const Call&) {
         for (int file = 0; file < 100; ++file) close(file);
       }},
      {"opens files", [](const Call&) { static_cast<void>(!open("/dev/null", O_RDONLY)); }},
      {"leaves threads behind",
       [](const Call&) { std::thread([] { std::this_thread::sleep_for(std::chrono::hours(1)); }).detach(); }},
      {"changes rounding", [](const Call&) { _mm_setcsr(_mm_getcsr() | 0x6000); }},
  };
  return list;
}

class HostileKernel final : public Kernel {
 public:
  HostileKernel(int64_t count, Deed deed) : count_(count), deed_(std::move(deed)) {}
  void run(const KernelArguments& arguments, int64_t, int64_t) const override {
    const Call call{arguments, count_, runs_++};
    for (int64_t i = 0; i < count_; ++i) call.output()[i] = std::max(call.input()[i], 0.0F);
    if (deed_) deed_(call);
  }

 private:
  int64_t count_;
  Deed deed_;
  mutable std::atomic<int64_t> runs_ = 0;
};

}  // namespace

std::variant<Offer, Refusal> HostileProvider::offer(const Workload& workload) const {
  if (workload.op != "Relu") return refuse("only Relu is broken here");
  Offer offer{{{{"kind", "good"}}}};
  for (const std::string_view kind : hostile_kinds()) offer.configs.push_back({{"kind", std::string(kind)}});
  return offer;
}

std::unique_ptr<Kernel> HostileProvider::build(const Workload& workload, const Config& config) const {
  const std::string& kind = config.at("kind");
  const int64_t count = element_count(workload.output(0).dims);
  if (kind == "good") return std::make_unique<HostileKernel>(count, nullptr);
  if (kind == "crashes when it is built") std::abort();
  if (kind == "hangs when it is built") spin_forever();
  if (kind == "cannot be built") throw std::runtime_error("a compiler that gives up");
  const auto deed = deeds().find(kind);
  if (deed == deeds().end()) throw UserError("no kind '{}'", kind);
  return std::make_unique<HostileKernel>(count, deed->second);
}

std::span<const std::string_view> hostile_kinds() {
  static const std::vector<std::string_view> kinds = [] {
    std::vector<std::string_view> list = {"crashes when it is built", "hangs when it is built", "cannot be built"};
    for (const auto& [kind, deed] : deeds()) list.push_back(kind);
    return list;
  }();
  return kinds;
}

std::span<const Provider* const> providers_with_hostile() {
  static const HostileProvider hostile;
  static const std::vector<const Provider*> list = [] {
    std::vector<const Provider*> all(providers().begin(), providers().end());
    all.push_back(&hostile);
    return all;
  }();
  return list;
}

}  // namespace attune::testing
