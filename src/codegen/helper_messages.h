// What a process and its compile helper say to each other over a socket: requests and replies, each a header and bytes.
// Both are of one build, so headers are plain structs with a number that changes with them.
#pragma once

#include "codegen/compiler.h"

#include <chrono>
#include <optional>

namespace attune {

/// The helper's end of the socket, a file descriptor that it is started with.
inline constexpr int kHelperSocket = 3;

struct HelperRequest {
  enum class Kind : uint32_t { object, assembly };
  Kind kind = Kind::object;
  GeneratedSource source;
  CompileOptions options;
};

struct HelperReply {
  std::string error;  // the compiler's message; empty: `bytes` is what was asked for
  std::string bytes;
};

using HelperDeadline = std::optional<std::chrono::steady_clock::time_point>;  // nothing: as long as it takes

/// How an exchange ended.
enum class Exchange { done, closed, timed_out, broken };

/// What a compiler has to say to a request.
HelperReply run_request(const Compiler& compiler, const HelperRequest& request);

Exchange send_request(int socket, const HelperRequest& request);
Exchange receive_request(int socket, HelperRequest& request, HelperDeadline deadline);
Exchange send_reply(int socket, const HelperReply& reply);
Exchange receive_reply(int socket, HelperReply& reply, HelperDeadline deadline);

}  // namespace attune
