#include "tune/measure/worker.h"

#include "codegen/compiler_module.h"
#include "tune/measure/frame.h"
#include "tune/measure/sandbox.h"
#include "tune/measure/workbench.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <new>
#include <string_view>

namespace attune::tune {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

bool serves = false;

void send_frame(const Frame& frame) {
  const std::string bytes = encode(frame);
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = send(kWorkerSocket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) _exit(1);  // nobody listens any more
    sent += static_cast<size_t>(count);
  }
}

/// Nothing at the end of the connection.
std::optional<Frame> receive_frame(FrameReader& reader) {
  for (;;) {
    if (auto frame = reader.next()) return frame;
    char buffer[64 << 10];
    const ssize_t count = recv(kWorkerSocket, buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    reader.add({buffer, static_cast<size_t>(count)});
  }
}

int32_t* map_progress() {
  void* page = mmap(nullptr, sizeof(int32_t), PROT_READ | PROT_WRITE, MAP_SHARED, kWorkerProgress, 0);
  return page == MAP_FAILED ? nullptr : static_cast<int32_t*>(page);
}

Reply dispatch(Workbench& bench, const Json& request) {
  const std::string what = request.at("do");
  const Json& with = request.at("with");
  if (what == "prepare") return bench.prepare(with.get<PrepareRequest>());
  if (what == "ceilings") return bench.ceilings();
  if (what == "subject") return bench.set_subject(with.get<SubjectRequest>());
  if (what == "build_ahead") return bench.build_ahead(with.get<BuildAheadRequest>());
  if (what == "build") return bench.build(with.get<InstanceId>());
  if (what == "verify") return bench.verify(with.get<InstanceId>());
  if (what == "pairs") return bench.pairs(with.get<PairsRequest>());
  if (what == "rounds") return bench.rounds(with.get<RoundsRequest>());
  throw InternalError("a worker cannot do '{}'", what);
}

Reply answer(Workbench& bench, const std::string& payload) {
  const auto begin = Clock::now();
  Reply reply;
  try {
    reply = dispatch(bench, Json::parse(payload));
  } catch (const std::bad_alloc&) {
    reply = {};
    reply.outcome = Outcome::out_of_memory;
    reply.message = "out of memory";
    reply.replace_worker = true;
  } catch (const std::exception& error) {
    reply = {};
    reply.outcome = Outcome::infrastructure;
    reply.message = error.what();
  }
  reply.elapsed_ms += std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return reply;
}

int serve(std::span<const Provider* const> providers) {
  compile_in_process("a measuring process starts no others");
  int32_t* progress = map_progress();
  if (progress == nullptr) return 1;
  Workbench bench(providers, [progress](int entrant) { *static_cast<volatile int32_t*>(progress) = entrant; });
  send_frame({0, Json(Hello{kProtocol, provider_environments(providers)}).dump()});
  forbid_processes();
  FrameReader reader;
  while (const auto frame = receive_frame(reader)) {
    // Messages out of exceptions may hold any bytes.
    const Json reply = answer(bench, frame->payload);
    send_frame({frame->token, reply.dump(-1, ' ', false, Json::error_handler_t::replace)});
  }
  return 0;
}

}  // namespace

std::optional<int> serve_if_worker(int argc, char** argv, std::span<const Provider* const> providers) {
  serves = true;
  if (argc != 3 || std::string_view(argv[1]) != kWorkerVerb) return std::nullopt;
  enter_sandbox(std::atoi(argv[2]));
  close_range(kWorkerProgress + 1, ~0U, 0);  // what the parent forgot to close
  std::signal(SIGPIPE, SIG_IGN);
  return serve(providers);
}

bool this_program_serves() { return serves; }

std::string provider_environments(std::span<const Provider* const> providers) {
  std::string text;
  for (const Provider* provider : providers) text += fmt::format("{}: {}; ", provider->name(), provider->environment());
  return text;
}

}  // namespace attune::tune
