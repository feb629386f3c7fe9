#include "codegen/helper_messages.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kMagic = 0xa77e0001;
constexpr uint64_t kMostBytes = uint64_t{1} << 28;  // of one piece: more is no message of ours

struct Header {
  uint32_t magic = kMagic;
  uint32_t kind = 0;
  int32_t isa = 0;
  int32_t optimization = 0;
  std::array<uint64_t, 3> sizes{};  // of the pieces that follow
};

Exchange send_bytes(int socket, const void* data, size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t count = send(socket, at, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Exchange::closed;
    at += count;
    size -= static_cast<size_t>(count);
  }
  return Exchange::done;
}

Exchange receive_bytes(int socket, void* data, size_t size, HelperDeadline deadline) {
  auto* at = static_cast<char*>(data);
  while (size > 0) {
    if (deadline) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - Clock::now()).count();
      pollfd file{socket, POLLIN, 0};
      const int ready = left < 0 ? 0 : poll(&file, 1, static_cast<int>(std::min<int64_t>(left + 1, 1 << 30)));
      if (ready == 0) return Exchange::timed_out;
      if (ready < 0 && errno == EINTR) continue;
    }
    const ssize_t count = recv(socket, at, size, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Exchange::closed;
    at += count;
    size -= static_cast<size_t>(count);
  }
  return Exchange::done;
}

Exchange send_message(int socket, Header header, const std::array<const std::string*, 3>& pieces) {
  for (size_t i = 0; i < pieces.size(); ++i) header.sizes[i] = pieces[i]->size();
  Exchange result = send_bytes(socket, &header, sizeof header);
  for (const std::string* piece : pieces)
    if (result == Exchange::done) result = send_bytes(socket, piece->data(), piece->size());
  return result;
}

Exchange receive_message(int socket, Header& header, const std::array<std::string*, 3>& pieces,
                         HelperDeadline deadline) {
  Exchange result = receive_bytes(socket, &header, sizeof header, deadline);
  if (result != Exchange::done) return result;
  if (header.magic != kMagic) return Exchange::broken;
  for (size_t i = 0; i < pieces.size() && result == Exchange::done; ++i) {
    if (header.sizes[i] > kMostBytes) return Exchange::broken;
    pieces[i]->resize(header.sizes[i]);
    result = receive_bytes(socket, pieces[i]->data(), pieces[i]->size(), deadline);
  }
  return result;
}

}  // namespace

HelperReply run_request(const Compiler& compiler, const HelperRequest& request) {
  HelperReply reply;
  if (request.kind == HelperRequest::Kind::assembly) {
    AssemblyText assembly = compiler.assembly(request.source, request.options);
    return {std::move(assembly.error), std::move(assembly.text)};
  }
  CompiledObject object = compiler.compile(request.source, request.options);
  reply.error = std::move(object.error);
  reply.bytes.assign(reinterpret_cast<const char*>(object.object.data()), object.object.size());
  return reply;
}

Exchange send_request(int socket, const HelperRequest& request) {
  Header header;
  header.kind = static_cast<uint32_t>(request.kind);
  header.isa = static_cast<int32_t>(request.options.isa);
  header.optimization = request.options.optimization;
  return send_message(socket, header, {&request.source.text, &request.source.entry, &request.options.sanitize});
}

Exchange receive_request(int socket, HelperRequest& request, HelperDeadline deadline) {
  Header header;
  const Exchange result = receive_message(
      socket, header, {&request.source.text, &request.source.entry, &request.options.sanitize}, deadline);
  if (result != Exchange::done) return result;
  request.kind = static_cast<HelperRequest::Kind>(header.kind);
  request.options.isa = static_cast<Isa>(header.isa);
  request.options.optimization = header.optimization;
  return Exchange::done;
}

Exchange send_reply(int socket, const HelperReply& reply) {
  static const std::string nothing;
  return send_message(socket, {}, {&reply.error, &reply.bytes, &nothing});
}

Exchange receive_reply(int socket, HelperReply& reply, HelperDeadline deadline) {
  Header header;
  std::string nothing;
  return receive_message(socket, header, {&reply.error, &reply.bytes, &nothing}, deadline);
}

}  // namespace attune
