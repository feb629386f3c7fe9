#include "cli/verbs.h"

namespace attune::cli {
namespace {

constexpr const char* kMachine = "Machine";

constexpr Verb kVerbs[] = {
    {"doctor", kMachine, "Show what this machine is, what it can reach and what is missing", add_doctor},
};

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

}  // namespace attune::cli
