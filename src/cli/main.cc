#include "cli/app.h"

int main(int argc, char** argv) { return attune::cli::run_command_line(argc, argv, attune::cli::verbs()); }
