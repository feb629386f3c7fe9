#include "cli/verbs.h"

namespace attune::cli {
namespace {

constexpr const char* kModels = "Models";
constexpr const char* kTuning = "Tuning";
constexpr const char* kMachine = "Machine";

constexpr Verb kVerbs[] = {
    {"run", kModels, "Run a model once, on given or random inputs", add_run},
    {"bench", kModels, "Measure latency and throughput of a model", add_bench},
    {"why", kModels, "Show which kernel runs each node and what the alternatives are", add_why},
    {"measure", kModels, "Verify and time every kernel that there is for a workload", add_measure},
    {"kernel", kModels, "Show the generated kernel of a workload, or try one configuration of it", add_kernel},
    {"plan", kModels, "Write the plan of a model: loads in milliseconds, packs and chooses nothing", add_plan},
    {"tune", kModels, "Find faster kernels for a model, prove them, and write a plan that uses them", add_tune},
    {"dump", kModels, "Write down the operators of a model, to be tuned later or elsewhere", add_dump},
    {"inspect", kModels, "Show inputs, outputs, operators, parameters, flops and memory of a model", add_inspect},
    {"zoo", kModels, "List the built-in models, or write one as an ONNX file", add_zoo},
    {"bank", kTuning, "Show, move and keep in order what was measured", add_bank},
    {"doctor", kMachine, "Show what this machine is, what it can reach and what is missing", add_doctor},
};

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

}  // namespace attune::cli
