// attune-compile MODULE: compiles generated kernels for the process that started it, over the socket that it was
// started with, until that process is gone or has had nothing to compile for a while.
#include "codegen/compiler_module.h"
#include "codegen/helper_messages.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>

namespace {

using namespace attune;

// Long enough to stay up while a job measures between two kernels; its memory is then given back.
constexpr std::chrono::seconds kIdle{30};

// Destructors of LLVM's statics have nothing to do here.
[[noreturn]] void leave(int status) {
  std::fflush(stderr);
  _exit(status);
}

}  // namespace

int main(int argc, char** argv) {
  close_range(kHelperSocket + 1, ~0U, 0);  // what the parent forgot to close
  if (argc != 2) {
    std::fprintf(stderr, "usage: attune-compile MODULE; attune starts it by itself\n");
    leave(2);
  }
  void* module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  const auto make = module == nullptr ? nullptr : reinterpret_cast<MakeCompiler>(dlsym(module, kMakeCompiler));
  if (make == nullptr) {
    std::fprintf(stderr, "the compiler module cannot be loaded: %s\n", dlerror());
    leave(1);
  }
  const Compiler& compiler = *make();
  for (HelperRequest request;;) {
    const Exchange result = receive_request(kHelperSocket, request, std::chrono::steady_clock::now() + kIdle);
    if (result != Exchange::done) leave(result == Exchange::broken ? 1 : 0);
    if (send_reply(kHelperSocket, run_request(compiler, request)) != Exchange::done) leave(0);
  }
}
