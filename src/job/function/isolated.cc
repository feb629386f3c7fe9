#include "job/function/isolated.h"

#include "tune/measure/sandbox.h"

#include <fmt/core.h>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <optional>

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;

// How the child ends besides by a signal.
constexpr int kDone = 0, kNoMemory = 3, kThrew = 4;

void write_all(int file, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(file, text.data() + at, text.size() - at);
    if (written <= 0 && errno != EINTR) return;
    if (written > 0) at += static_cast<size_t>(written);
  }
}

[[noreturn]] void be_the_child(const std::function<std::string()>& work, int file, pid_t parent) {
  setpgid(0, 0);  // so that what it starts ends with it
  tune::enter_sandbox(parent);
  int code = kDone;
  try {
    write_all(file, work());
  } catch (const std::bad_alloc&) {
    code = kNoMemory;
  } catch (const std::exception& error) {
    write_all(file, error.what());
    code = kThrew;
  }
  _exit(code);  // nothing of the parent's is flushed or destroyed twice
}

/// What the child wrote until it closed its end; nothing when the time was up.
std::optional<std::string> read_until(int file, Clock::time_point deadline) {
  std::string text;
  char bytes[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return std::nullopt;
    pollfd waiting{file, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left, 60'000))) <= 0) continue;
    const ssize_t count = read(file, bytes, sizeof bytes);
    if (count == 0) return text;
    if (count > 0) text.append(bytes, static_cast<size_t>(count));
  }
}

IsolatedResult result_of(int status, std::string text) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == kDone) return {Outcome::ok, "", std::move(text)};
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMemory) return {Outcome::out_of_memory, "out of memory", ""};
  if (WIFEXITED(status) && WEXITSTATUS(status) == kThrew) return {Outcome::refused, std::move(text), ""};
  if (WIFEXITED(status)) return {Outcome::crashed, fmt::format("ended with exit code {}", WEXITSTATUS(status)), ""};
  return {Outcome::crashed, fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status))), ""};
}

}  // namespace

IsolatedResult run_isolated(const std::function<std::string()>& work, std::chrono::milliseconds timeout) {
  int ends[2];
  if (pipe(ends) != 0) return {Outcome::infrastructure, fmt::format("no pipe: {}", std::strerror(errno)), ""};
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    const std::string reason = std::strerror(errno);
    close(ends[0]);
    close(ends[1]);
    return {Outcome::infrastructure, "no process: " + reason, ""};
  }
  if (child == 0) {
    close(ends[0]);
    be_the_child(work, ends[1], parent);
  }
  setpgid(child, child);  // whoever comes first
  close(ends[1]);
  auto text = read_until(ends[0], Clock::now() + timeout);
  close(ends[0]);
  kill(-child, SIGKILL);  // what it started, too; itself only where it hangs, as what it wrote ended with its exit
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (!text) return {Outcome::timed_out, fmt::format("still running after {} ms", timeout.count()), ""};
  return result_of(status, std::move(*text));
}

}  // namespace attune
