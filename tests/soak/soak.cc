// Many threads on few sessions for a while: every result must have the bits of a lone run. Usage: soak [SECONDS]
#include "runtime/random_inputs.h"
#include "runtime/session.h"
#include "zoo/address.h"

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

/// A session with several sets of inputs, some of another batch size, and what a lone run makes of each.
struct Subject {
  std::unique_ptr<attune::Session> session;
  std::vector<std::vector<attune::Tensor>> inputs, expected;
};

Subject make_subject(const std::string& model) {
  Subject subject;
  const attune::Graph graph = attune::zoo::build_address(model);
  subject.session = std::make_unique<attune::Session>(graph);
  const attune::Value& first = graph.value(graph.inputs.at(0));
  for (const uint64_t seed : {1, 2, 3}) {
    attune::Dims dims;
    for (const attune::Dim& dim : *first.shape)
      dims.push_back(dim.is_known() ? dim.value() : 1 + static_cast<int64_t>(seed) % 2);
    subject.inputs.push_back(attune::random_inputs(graph, {{first.name, dims}}, seed));
    // A session of its own: the one under test makes its plans while all threads call it.
    subject.expected.push_back(attune::Session(graph).run(subject.inputs.back()));
  }
  return subject;
}

bool equal(const std::vector<attune::Tensor>& a, const std::vector<attune::Tensor>& b) {
  for (size_t i = 0; i < b.size(); ++i)
    if (a[i].dims() != b[i].dims() ||
        std::memcmp(a[i].bytes(), b[i].bytes(), static_cast<size_t>(b[i].size_bytes())) != 0)
      return false;
  return true;
}

struct Tally {
  std::atomic<int64_t> runs = 0, wrong = 0;
};

void call_until(Clock::time_point end, const Subject& subject, size_t thread, Tally& tally) {
  try {
    for (size_t i = thread; Clock::now() < end; ++i) {
      const size_t which = i % subject.inputs.size();
      if (!equal(subject.session->run(subject.inputs[which]), subject.expected[which])) ++tally.wrong;
      ++tally.runs;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "soak: {}\n", error.what());
    ++tally.wrong;
  }
}

/// `callers` threads on each of the subjects, all at once.
int64_t soak(const char* name, double seconds, const std::vector<const Subject*>& subjects, size_t callers) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  Tally tally;
  std::vector<std::thread> threads;
  for (const Subject* subject : subjects)
    for (size_t i = 0; i < callers; ++i) threads.emplace_back([=, &tally] { call_until(end, *subject, i, tally); });
  for (std::thread& thread : threads) thread.join();
  fmt::print("{}: {} runs, {} wrong\n", name, tally.runs.load(), tally.wrong.load());
  return tally.runs > 0 ? tally.wrong.load() : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 5;
  const char* const models[] = {"zoo:mobilenetv2:size=64:batch=0", "zoo:lstm_tagger:seq=12", "zoo:lenet:batch=0",
                                "zoo:resnet18:size=64:batch=0"};
  int64_t wrong = 0;
  std::vector<Subject> together;
  for (const char* model : models) {
    const Subject subject = make_subject(model);
    wrong += soak(model, seconds / 8, {&subject}, 8);
    together.push_back(make_subject(model));
  }
  std::vector<const Subject*> pointers;
  for (const Subject& subject : together) pointers.push_back(&subject);
  wrong += soak("4 sessions at once", seconds / 2, pointers, 2);
  return wrong == 0 ? 0 : 1;
}
