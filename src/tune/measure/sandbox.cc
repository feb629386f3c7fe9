#include "tune/measure/sandbox.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace attune::tune {
namespace {

constexpr rlim_t kMostFileBytes = rlim_t{1} << 30;  // of one file: a compiler's cache, not a disk

void limit(__rlimit_resource what, rlim_t most) {
  rlimit current{};
  if (getrlimit(what, &current) != 0) return;
  if (current.rlim_max < most) most = current.rlim_max;
  const rlimit wanted{most, most};
  setrlimit(what, &wanted);
}

// A filter reads words of seccomp_data; arguments are 64 bits wide with the low half first.
constexpr uint32_t kNumber = offsetof(seccomp_data, nr), kArchitecture = offsetof(seccomp_data, arch),
                   kFirstArgument = offsetof(seccomp_data, args);

class Filter {
 public:
  void load(uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, 0, 0, offset); }
  /// The next `skip` instructions are for this system call alone.
  void only_for(long number, uint8_t skip) { add(BPF_JMP | BPF_JEQ | BPF_K, 0, skip, static_cast<uint32_t>(number)); }
  void skip_if_equal(uint32_t value, uint8_t count) { add(BPF_JMP | BPF_JEQ | BPF_K, count, 0, value); }
  void skip_if_set(uint32_t bits, uint8_t count) { add(BPF_JMP | BPF_JSET | BPF_K, count, 0, bits); }
  void answer(uint32_t action) { add(BPF_RET | BPF_K, 0, 0, action); }
  bool install() {
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
  }

 private:
  void add(int code, uint8_t if_true, uint8_t if_false, uint32_t value) {
    code_.push_back({static_cast<uint16_t>(code), if_true, if_false, value});
  }
  std::vector<sock_filter> code_;
};

}  // namespace

void enter_sandbox(int parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before the line above
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, kMostFileBytes);
  if (const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); file >= 0) {
    static_cast<void>(!write(file, "1000", 4));
    close(file);
  }
}

void forbid_processes() {
#if defined(__x86_64__)
  Filter filter;
  filter.load(kArchitecture);
  filter.skip_if_equal(AUDIT_ARCH_X86_64, 1);
  filter.answer(SECCOMP_RET_KILL_PROCESS);
  filter.load(kNumber);
  for (const long number : {SYS_fork, SYS_vfork, SYS_execve, SYS_execveat}) {
    filter.only_for(number, 1);
    filter.answer(SECCOMP_RET_KILL_PROCESS);
  }
  // Its flags lie in memory, where a filter cannot look; libraries fall back to clone.
  filter.only_for(SYS_clone3, 1);
  filter.answer(SECCOMP_RET_ERRNO | 38);  // ENOSYS
  filter.only_for(SYS_clone, 4);
  filter.load(kFirstArgument);
  filter.skip_if_set(CLONE_THREAD, 1);
  filter.answer(SECCOMP_RET_KILL_PROCESS);
  filter.answer(SECCOMP_RET_ALLOW);
  for (const long number : {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo}) {
    filter.only_for(number, 4);
    filter.load(kFirstArgument);
    filter.skip_if_equal(static_cast<uint32_t>(getpid()), 1);
    filter.answer(SECCOMP_RET_KILL_PROCESS);
    filter.answer(SECCOMP_RET_ALLOW);
  }
  filter.answer(SECCOMP_RET_ALLOW);
  filter.install();
#endif
}

void limit_memory(int64_t more_bytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static_cast<void>(more_bytes);  // a sanitizer's shadow takes terabytes of address space
#else
  if (more_bytes <= 0) return;
  long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  if (pages == 0) return;
  limit(RLIMIT_AS,
        static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + static_cast<rlim_t>(more_bytes));
#endif
}

}  // namespace attune::tune
