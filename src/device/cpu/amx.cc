#include "device/cpu/amx.h"

#include "device/cpu/amx_palette.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <initializer_list>

namespace attune {
namespace {

/// What the child does. It may hold locks of threads that do not exist in it, so only system calls and instructions.
[[noreturn]] void run_probe(AmxTypes types, volatile bool* survived) {
  rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  for (const int number : {SIGILL, SIGSEGV, SIGBUS}) std::signal(number, SIG_DFL);
  if (request_amx()) {
    execute_tile_instructions(types);
    *survived = true;
  }
  _exit(0);
}

}  // namespace

bool request_amx() {
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool try_amx(AmxTypes types) {
  // Shared memory rather than an exit status: where SIGCHLD is ignored there is no status to collect.
  void* shared = mmap(nullptr, sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return false;
  auto* survived = static_cast<volatile bool*>(shared);
  *survived = false;
  const pid_t child = fork();
  if (child == 0) run_probe(types, survived);
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
  const bool result = child > 0 && *survived;
  munmap(shared, sizeof(bool));
  return result;
}

}  // namespace attune
