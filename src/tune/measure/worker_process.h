// A worker as the measurer sees it: started, asked with a deadline, killed with all that it started.
#pragma once

#include "tune/measure/frame.h"

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>

namespace attune::tune {

/// How a call ended.
struct CallResult {
  enum class Kind { replied, died, timed_out, broken };  // broken: what came back was no reply
  Kind kind = Kind::died;
  std::string payload;      // of a reply
  int wait_status = 0;      // died: as of waitpid
  std::string description;  // not replied: "killed by signal 11 (Segmentation fault)"
  int entrant = 0;          // whose kernel ran last
};

class WorkerProcess {
 public:
  /// Starts the program in a session of its own. The calling thread should live as long as the worker: the system kills
  /// the worker when it ends. Throws InternalError when the system refuses.
  explicit WorkerProcess(const std::string& program);
  ~WorkerProcess();  // kills it
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Waits for the worker's first message.
  CallResult hello(std::chrono::milliseconds timeout);
  /// Sends a request and waits for its reply. After anything but a reply the worker is dead.
  CallResult call(const std::string& payload, std::chrono::milliseconds timeout);

  bool alive() const { return pid_ > 0; }
  /// What it wrote to stdout and stderr lately.
  const std::string& output_tail() const { return output_; }
  void clear_output() { output_.clear(); }

 private:
  CallResult wait(uint64_t token, std::chrono::milliseconds timeout);
  CallResult finish(CallResult::Kind kind, std::string why);
  bool send_all(const std::string& bytes, std::chrono::steady_clock::time_point deadline);
  void drain_output();
  int end();  // kills the group and returns the worker's wait status

  pid_t pid_ = -1;
  int socket_ = -1, output_pipe_ = -1;
  volatile int32_t* progress_ = nullptr;
  uint64_t next_token_ = 1;
  FrameReader reader_;
  std::string output_;
};

}  // namespace attune::tune
