#include "device/cpu/amx_palette_scope.h"

#include "device/cpu/cpu_info.h"
#include "device/cpu/cpuid.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <mutex>

namespace attune {
namespace {

constexpr uint32_t kPaletteLeaf = 0x1D;
constexpr uint32_t kMultiplierLeaf = 0x1E;

bool trap_cpuid(bool trap) {
  constexpr int kSetCpuid = 0x1012;  // ARCH_SET_CPUID: 0 makes the instruction fault
  return syscall(SYS_arch_prctl, kSetCpuid, trap ? 0 : 1) == 0;
}

std::mutex handler_mutex;
int handler_users = 0;  // scopes of all threads, guarded by the mutex
struct sigaction handler_before;
thread_local int scope_depth = 0;

/// Eight tiles of 16 rows of 64 bytes, multiplied 16 by 64 bytes at a time.
CpuidRegisters palette_1(uint32_t leaf, uint32_t subleaf) {
  if (leaf == kPaletteLeaf && subleaf == 0) return {.eax = 1};
  if (leaf == kPaletteLeaf && subleaf == 1) return {.eax = 8192 | 1024 << 16, .ebx = 64 | 8 << 16, .ecx = 16};
  if (leaf == kMultiplierLeaf && subleaf == 0) return {.ebx = 16 | 64 << 8};
  return {};
}

CpuidRegisters answer(uint32_t leaf, uint32_t subleaf) {
  if (leaf == kPaletteLeaf || leaf == kMultiplierLeaf) return palette_1(leaf, subleaf);
  CpuidRegisters result;
  trap_cpuid(false);
  __cpuid_count(leaf, subleaf, result.eax, result.ebx, result.ecx, result.edx);
  trap_cpuid(true);
  if (leaf == 0 && result.eax < kMultiplierLeaf) result.eax = kMultiplierLeaf;
  return result;
}

void hand_on(int signal, siginfo_t* info, void* context) {
  if ((handler_before.sa_flags & SA_SIGINFO) != 0 && handler_before.sa_sigaction != nullptr)
    return handler_before.sa_sigaction(signal, info, context);
  if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN)
    return handler_before.sa_handler(signal);
  std::signal(SIGSEGV, SIG_DFL);  // the instruction faults again and ends the process as it would have
}

void on_fault(int signal, siginfo_t* info, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto* instruction = reinterpret_cast<const uint8_t*>(registers[REG_RIP]);
  // Only a trapped CPUID faults with the kernel's SI_KERNEL, so a jump to an unreadable place is not read here.
  const bool is_cpuid =
      scope_depth > 0 && info->si_code == SI_KERNEL && instruction[0] == 0x0F && instruction[1] == 0xA2;
  if (!is_cpuid) return hand_on(signal, info, context);
  const CpuidRegisters result =
      answer(static_cast<uint32_t>(registers[REG_RAX]), static_cast<uint32_t>(registers[REG_RCX]));
  registers[REG_RAX] = result.eax;
  registers[REG_RBX] = result.ebx;
  registers[REG_RCX] = result.ecx;
  registers[REG_RDX] = result.edx;
  registers[REG_RIP] += 2;
}

}  // namespace

bool AmxPaletteScope::useful() {
  static const bool result = [] {
    const CpuInfo& info = cpu_info();
    if (!info.amx_palette_hidden || !has_isa(info, "amx_tile")) return false;
    return trap_cpuid(true) && trap_cpuid(false);
  }();
  return result;
}

AmxPaletteScope::AmxPaletteScope() {
  if (!useful() || scope_depth++ > 0) return;
  const std::lock_guard lock(handler_mutex);
  if (handler_users++ == 0) {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &handler_before);
  }
  trap_cpuid(true);
}

AmxPaletteScope::~AmxPaletteScope() {
  if (!useful() || --scope_depth > 0) return;
  trap_cpuid(false);
  const std::lock_guard lock(handler_mutex);
  if (--handler_users == 0) sigaction(SIGSEGV, &handler_before, nullptr);
}

}  // namespace attune
