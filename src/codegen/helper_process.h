// A compile helper as its user sees it: the program attune-compile, started with a socket to it, asked, and gone when
// the user is.
#pragma once

#include "codegen/helper_messages.h"

#include <sys/types.h>

#include <filesystem>
#include <memory>

namespace attune {

class HelperProcess {
 public:
  struct Programs {
    std::filesystem::path helper, module;
  };
  /// Nothing and a reason where the system does not start it.
  static std::unique_ptr<HelperProcess> start(const Programs& programs, std::string& problem);
  ~HelperProcess();  // the helper ends when its connection does
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;

  struct Answer {
    enum class Kind { replied, gone, failed };  // gone: it ended, by itself or by a crash, perhaps before it was asked
    Kind kind = Kind::failed;
    HelperReply reply;  // not replied: its error says how the helper ended
  };
  Answer ask(const HelperRequest& request, std::chrono::milliseconds timeout);

  /// Whether this process started it: after a fork the connection is the parent's.
  bool is_ours() const;
  pid_t pid() const { return pid_; }

 private:
  HelperProcess(pid_t pid, int socket, int output);
  Answer end(Answer::Kind kind, const std::string& how);
  std::string output_tail() const;

  pid_t owner_, pid_;
  int socket_, output_;
};

}  // namespace attune
