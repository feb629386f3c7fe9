// attune doctor: what the machine is, what it reaches, and what is missing with the remedy.
#include "cli/output.h"
#include "cli/verbs.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace attune::cli {
namespace {

struct DoctorOptions {
  OutputFormat format = OutputFormat::table;
};

ExitCode run_doctor(const DoctorOptions& options) {
  print({}, options.format);
  return ExitCode::ok;
}

}  // namespace

Action add_doctor(CLI::App& verb) {
  auto options = std::make_shared<DoctorOptions>();  // shared: CLI11 writes it, the action reads it
  add_format(verb, options->format);
  return [options] { return run_doctor(*options); };
}

}  // namespace attune::cli
