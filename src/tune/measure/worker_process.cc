#include "tune/measure/worker_process.h"

#include "base/error.h"
#include "tune/measure/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace attune::tune {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kOutputTail = 4096;
constexpr int kMostReads = 256;  // at a time: a worker may write faster than we read
constexpr milliseconds kPatienceAfterKill{5000};

/// Out of the way of the numbers that the worker gets.
int moved_up(int file) {
  const int moved = fcntl(file, F_DUPFD_CLOEXEC, 10);
  close(file);
  if (moved < 0) throw InternalError("no file descriptor for a measuring process: {}", std::strerror(errno));
  return moved;
}

int remaining_ms(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left + 1, 0, 1 << 30));
}

std::string status_text(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("exited with status {} in the middle of a trial", WEXITSTATUS(status));
}

pid_t start(const std::string& program, int socket, int output, int progress) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
  posix_spawn_file_actions_adddup2(&actions, socket, kWorkerSocket);
  posix_spawn_file_actions_adddup2(&actions, progress, kWorkerProgress);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  // A session of its own: no signals of our terminal, and one group to kill.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> words = {"attune", kWorkerVerb, std::to_string(getpid())};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, program.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw InternalError("cannot start '{}' as a measuring process: {}", program, std::strerror(error));
  return pid;
}

}  // namespace

WorkerProcess::WorkerProcess(const std::string& program) {
  int sockets[2], pipes[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0 || pipe2(pipes, O_CLOEXEC) != 0)
    throw InternalError("no connection to a measuring process: {}", std::strerror(errno));
  socket_ = sockets[0];
  output_pipe_ = pipes[0];
  const int theirs = moved_up(sockets[1]), output = moved_up(pipes[1]);
  const int progress = moved_up(memfd_create("attune-progress", MFD_CLOEXEC));
  if (ftruncate(progress, static_cast<off_t>(sizeof(int32_t))) != 0) throw InternalError("no memory for a page");
  void* page = mmap(nullptr, sizeof(int32_t), PROT_READ, MAP_SHARED, progress, 0);
  if (page == MAP_FAILED) throw InternalError("no memory for a page");
  progress_ = static_cast<volatile int32_t*>(page);
  fcntl(output_pipe_, F_SETFL, O_NONBLOCK);
  fcntl(socket_, F_SETFL, O_NONBLOCK);
  // Tokens that a stray write will not guess.
  next_token_ = std::random_device()() | uint64_t{std::random_device()()} << 32;
  pid_ = start(program, theirs, output, progress);
  close(theirs);
  close(output);
  close(progress);
}

WorkerProcess::~WorkerProcess() {
  end();
  munmap(const_cast<int32_t*>(progress_), sizeof(int32_t));
  close(socket_);
  close(output_pipe_);
}

CallResult WorkerProcess::hello(milliseconds timeout) { return wait(0, timeout); }

CallResult WorkerProcess::call(const std::string& payload, milliseconds timeout) {
  if (!alive()) return finish(CallResult::Kind::died, "it had ended before");
  const Clock::time_point deadline = Clock::now() + timeout;
  const uint64_t token = ++next_token_;
  if (!send_all(encode({token, payload}), deadline))
    return finish(CallResult::Kind::broken, "it does not read its messages");
  return wait(token, milliseconds(remaining_ms(deadline)));
}

bool WorkerProcess::send_all(const std::string& bytes, Clock::time_point deadline) {
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count > 0) {
      sent += static_cast<size_t>(count);
      continue;
    }
    if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
    pollfd file{socket_, POLLOUT, 0};
    if (poll(&file, 1, remaining_ms(deadline)) == 0) return false;
  }
  return true;
}

CallResult WorkerProcess::wait(uint64_t token, milliseconds timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  for (;;) {
    try {
      if (auto frame = reader_.next()) {
        if (frame->token != token) return finish(CallResult::Kind::broken, "it answered what nobody had asked");
        drain_output();
        CallResult result;
        result.kind = CallResult::Kind::replied;
        result.payload = std::move(frame->payload);
        result.entrant = *progress_;
        return result;
      }
    } catch (const BrokenFrame& error) {
      return finish(CallResult::Kind::broken, fmt::format("it wrote into the connection ({})", error.what()));
    }
    pollfd files[2] = {{socket_, POLLIN, 0}, {output_pipe_, POLLIN, 0}};
    const int ready = poll(files, 2, remaining_ms(deadline));
    // A worker that never stops writing is always ready.
    if (ready == 0 || Clock::now() >= deadline)
      return finish(CallResult::Kind::timed_out, fmt::format("no answer after {} ms", timeout.count()));
    if (files[1].revents != 0) drain_output();
    if (files[1].revents == POLLHUP) {  // all its ends of the pipe are closed: nothing will come any more
      files[1].fd = -1;
      if (files[0].revents == 0) std::this_thread::sleep_for(milliseconds(1));
    }
    if (files[0].revents == 0) continue;
    char buffer[64 << 10];
    const ssize_t count = recv(socket_, buffer, sizeof buffer, 0);
    if (count > 0)
      reader_.add({buffer, static_cast<size_t>(count)});
    else if (count == 0 || (errno != EAGAIN && errno != EINTR))
      return finish(CallResult::Kind::died, "");
  }
}

CallResult WorkerProcess::finish(CallResult::Kind kind, std::string why) {
  CallResult result;
  result.kind = kind;
  result.entrant = *progress_;
  // The end of the connection arrives a little before the end of the process. What closed it itself will not end.
  if (kind == CallResult::Kind::died && alive()) {
    for (const Clock::time_point deadline = Clock::now() + milliseconds(200); Clock::now() < deadline;) {
      siginfo_t info{};
      if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) break;
      std::this_thread::sleep_for(milliseconds(1));
    }
    siginfo_t info{};
    const bool ended =
        waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
    if (!ended) {
      result.kind = CallResult::Kind::broken;
      why = "it closed the connection";
    }
  }
  result.wait_status = end();
  if (why.empty()) why = status_text(result.wait_status);
  result.description = std::move(why);
  return result;
}

void WorkerProcess::drain_output() {
  char buffer[4096];
  for (int reads = 0; reads < kMostReads; ++reads) {
    const ssize_t count = read(output_pipe_, buffer, sizeof buffer);
    if (count <= 0) break;
    output_.append(buffer, static_cast<size_t>(count));
    if (output_.size() > 2 * kOutputTail) output_.erase(0, output_.size() - kOutputTail);
  }
  if (output_.size() > kOutputTail) output_.erase(0, output_.size() - kOutputTail);
}

int WorkerProcess::end() {
  if (!alive()) return 0;
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
  int status = 0;
  const Clock::time_point deadline = Clock::now() + kPatienceAfterKill;
  // A process in the middle of a device's system call may take its time; after that it is left to the system.
  while (waitpid(pid_, &status, WNOHANG) == 0 && Clock::now() < deadline) std::this_thread::sleep_for(milliseconds(1));
  pid_ = -1;
  drain_output();
  return status;
}

}  // namespace attune::tune
