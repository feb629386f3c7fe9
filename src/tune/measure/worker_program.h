// Which executable serves as the worker of this process.
#pragma once

#include <string>

namespace attune::tune {

/// In this order: `given`, unless empty; the running program, when its main() calls serve_if_worker; the `attune` that
/// was installed beside the library (its own folder, ../bin from there); the `attune` of $PATH. Throws UserError with
/// the remedy when there is none.
std::string find_worker_program(const std::string& given);

}  // namespace attune::tune
