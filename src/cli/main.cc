#include "cli/app.h"
#include "providers/providers.h"
#include "tune/measure/worker.h"

int main(int argc, char** argv) {
  if (const auto code = attune::tune::serve_if_worker(argc, argv, attune::providers())) return *code;
  return attune::cli::run_command_line(argc, argv, attune::cli::verbs());
}
