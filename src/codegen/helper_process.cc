#include "codegen/helper_process.h"

#include <fmt/core.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace attune {
namespace {

constexpr off_t kOutputTail = 2048;

/// Out of the way of the numbers that the helper gets.
int moved_up(int file) {
  const int moved = fcntl(file, F_DUPFD_CLOEXEC, 10);
  close(file);
  return moved;
}

int spawn(const HelperProcess::Programs& programs, int socket, int output, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
  posix_spawn_file_actions_adddup2(&actions, socket, kHelperSocket);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  // A session of its own: no signals of our terminal, where an interrupted job finishes what it is at.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string helper = programs.helper, module = programs.module;
  char* arguments[] = {helper.data(), module.data(), nullptr};
  const int error = posix_spawn(&pid, helper.c_str(), &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

std::string status_text(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

}  // namespace

std::unique_ptr<HelperProcess> HelperProcess::start(const Programs& programs, std::string& problem) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    problem = fmt::format("there is no socket to a compile helper: {}", std::strerror(errno));
    return nullptr;
  }
  const int theirs = moved_up(sockets[1]), output = moved_up(memfd_create("attune-compile", MFD_CLOEXEC));
  pid_t pid = -1;
  const int error = theirs < 0 || output < 0 ? errno : spawn(programs, theirs, output, pid);
  close(theirs);
  if (error == 0) return std::unique_ptr<HelperProcess>(new HelperProcess(pid, sockets[0], output));
  problem = fmt::format("'{}' cannot be started: {}", programs.helper.string(), std::strerror(error));
  close(sockets[0]);
  close(output);
  return nullptr;
}

HelperProcess::HelperProcess(pid_t pid, int socket, int output)
    : owner_(getpid()), pid_(pid), socket_(socket), output_(output) {}

HelperProcess::~HelperProcess() {
  close(socket_);
  close(output_);
  if (pid_ > 0 && is_ours()) waitpid(pid_, nullptr, WNOHANG);
}

bool HelperProcess::is_ours() const { return owner_ == getpid(); }

HelperProcess::Answer HelperProcess::ask(const HelperRequest& request, std::chrono::milliseconds timeout) {
  Answer answer;
  Exchange result = send_request(socket_, request);
  if (result == Exchange::done)
    result = receive_reply(socket_, answer.reply, std::chrono::steady_clock::now() + timeout);
  if (result == Exchange::done) {
    answer.kind = Answer::Kind::replied;
    return answer;
  }
  if (result == Exchange::closed) return end(Answer::Kind::gone, "");
  kill(pid_, SIGKILL);
  return end(Answer::Kind::failed,
             result == Exchange::timed_out
                 ? fmt::format("had not answered after {} s and was ended", timeout.count() / 1000)
                 : "answered what is no reply and was ended");
}

HelperProcess::Answer HelperProcess::end(Answer::Kind kind, const std::string& how) {
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(pid_, &status, 0)) < 0 && errno == EINTR) {}
  pid_ = -1;
  // Somebody else may have waited for all children.
  const std::string own = ended > 0 ? status_text(status) : "ended";
  Answer answer;
  answer.kind = kind;
  answer.reply.error = fmt::format("the compile helper {}", how.empty() ? own : how);
  if (const std::string tail = output_tail(); !tail.empty()) answer.reply.error += ": " + tail;
  return answer;
}

std::string HelperProcess::output_tail() const {
  const off_t size = lseek(output_, 0, SEEK_END), begin = size > kOutputTail ? size - kOutputTail : 0;
  std::string text(static_cast<size_t>(size > 0 ? size - begin : 0), '\0');
  const ssize_t count = pread(output_, text.data(), text.size(), begin);
  text.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return text;
}

}  // namespace attune
