// The process that builds, verifies and times kernels for a measurer. It is the program itself, started again with a
// hidden verb: a fresh image shares no threads, locks or memory with the process that measures for, which a fork of a
// program with a running thread pool could not promise. The worker stays up from trial to trial; a crash costs one.
#pragma once

#include "kernel/provider.h"

#include <optional>
#include <span>

namespace attune::tune {

inline constexpr const char* kWorkerVerb = "__measure-worker";

// Descriptors that the worker is started with, besides the standard three.
inline constexpr int kWorkerSocket = 3;
inline constexpr int kWorkerProgress = 4;  // a page in which the worker writes whom it is timing

/// The first line of main() in every program whose measurers use the program itself as worker: when the program was
/// started as one, serves and returns the exit code; else returns nothing at once, and the program is known as one that
/// can serve. `providers` is what its trials may name.
std::optional<int> serve_if_worker(int argc, char** argv, std::span<const Provider* const> providers);

/// Whether serve_if_worker was called in this process.
bool this_program_serves();

/// Providers and their environments, as a worker reports them.
std::string provider_environments(std::span<const Provider* const> providers);

}  // namespace attune::tune
