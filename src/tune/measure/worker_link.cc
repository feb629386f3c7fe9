#include "tune/measure/worker_link.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "providers/providers.h"
#include "tune/measure/worker.h"
#include "tune/measure/worker_program.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>

namespace attune::tune {
namespace {

using Json = nlohmann::json;

constexpr double kShareOfFreeMemory = 0.8;

Outcome outcome_of(const CallResult& result, const std::string& output) {
  if (result.kind == CallResult::Kind::timed_out) return Outcome::timed_out;
  if (result.kind == CallResult::Kind::broken) return Outcome::crashed;
  // Nobody but the system kills it with this signal, and the system does when memory runs out.
  const bool killed = WIFSIGNALED(result.wait_status) && WTERMSIG(result.wait_status) == SIGKILL;
  if (killed || output.find("std::bad_alloc") != std::string::npos) return Outcome::out_of_memory;
  return Outcome::crashed;
}

std::string message_of(const CallResult& result, const std::string& output) {
  std::string text = result.description;
  if (result.kind == CallResult::Kind::died && WIFSIGNALED(result.wait_status) &&
      WTERMSIG(result.wait_status) == SIGSYS)
    text += "; a kernel may not start processes or signal others";
  if (!output.empty()) text += "; it wrote: " + output;
  return text;
}

std::string text_of(const MeasureTask& task) {
  WorkloadCase what = case_of(task.workload);
  if (!task.contents.empty()) {
    if (task.contents.size() != what.contents.size())
      throw InternalError("{} inputs with {} contents", what.contents.size(), task.contents.size());
    what.contents = task.contents;
  }
  return to_text(what);
}

}  // namespace

WorkerLink::WorkerLink(MeasurerOptions options)
    : options_(std::move(options)), program_(find_worker_program(options_.worker_program)), seed_(options_.seed) {
  if (options_.threads <= 0) options_.threads = thread_count();
  if (options_.memory_limit_bytes < 0)
    options_.memory_limit_bytes =
        static_cast<int64_t>(kShareOfFreeMemory * static_cast<double>(available_memory_bytes()));
  ensure_worker();
}

void WorkerLink::ensure_worker() {
  if (worker_ && worker_->alive()) return;
  subject_.clear();
  worker_ = std::make_unique<WorkerProcess>(program_);
  ++workers_started_;
  const CallResult result = worker_->hello(options_.timeouts.start);
  Hello hello;
  hello.protocol = 0;
  if (result.kind == CallResult::Kind::replied) {
    try {
      hello = Json::parse(result.payload).get<Hello>();
    } catch (const Json::exception&) {
      hello.protocol = 0;
    }
  }
  if (hello.protocol != kProtocol)
    throw UserError(
        "'{}' does not serve as a measuring process ({}); it has to be the attune of this build", program_,
        result.kind == CallResult::Kind::replied ? "it speaks otherwise" : message_of(result, worker_->output_tail()));
  // The running program is its own equal, whatever providers it adds.
  if (!this_program_serves() && hello.environment != provider_environments(providers()))
    throw UserError("'{}' has other providers ({}) than this library ({}); install both from one build", program_,
                    hello.environment, provider_environments(providers()));
  const Json prepare = {{"do", "prepare"},
                        {"with", PrepareRequest{options_.threads, options_.pin_workers, options_.memory_limit_bytes}}};
  const CallResult prepared = worker_->call(prepare.dump(), options_.timeouts.start);
  if (prepared.kind != CallResult::Kind::replied)
    throw InternalError("the measuring process ended before it began: {}",
                        message_of(prepared, worker_->output_tail()));
}

WorkerLink::Answer WorkerLink::ask(const char* what, const Json& with, std::chrono::milliseconds timeout) {
  ensure_worker();
  worker_->clear_output();
  const CallResult result = worker_->call(Json{{"do", what}, {"with", with}}.dump(), timeout);
  Answer answer;
  answer.entrant = result.entrant;
  if (result.kind == CallResult::Kind::replied) {
    try {
      answer.reply = Json::parse(result.payload).get<Reply>();
      if (answer.reply.replace_worker) worker_.reset();
      return answer;
    } catch (const std::exception& error) {
      answer.reply.outcome = Outcome::crashed;
      answer.reply.message = fmt::format("its answer makes no sense: {}", error.what());
    }
  } else {
    answer.reply.outcome = outcome_of(result, worker_->output_tail());
    answer.reply.message = message_of(result, worker_->output_tail());
  }
  worker_.reset();
  return answer;
}

WorkerLink::Answer WorkerLink::set_subject(const MeasureTask& task) {
  ensure_worker();
  const std::string text = text_of(task);
  if (text == subject_) return {};
  subject_.clear();
  const Answer answer =
      ask("subject", SubjectRequest{text, options_.seed, options_.cold_weights}, options_.timeouts.reference);
  if (answer.ok()) subject_ = text;
  return answer;
}

void WorkerLink::build_ahead(std::span<const InstanceId> ids) {
  if (ids.size() > 1) ask("build_ahead", BuildAheadRequest{{ids.begin(), ids.end()}}, options_.timeouts.build);
}

WorkerLink::Answer WorkerLink::make_ready(const InstanceId& id, Stage& stage) {
  stage = Stage::build;
  Answer answer = build(id);
  if (!answer.ok()) return answer;
  const double build_ms = answer.reply.elapsed_ms;
  stage = Stage::verify;
  answer = verify(id);
  answer.reply.elapsed_ms = build_ms;
  return answer;
}

const CeilingRates& WorkerLink::ceilings() {
  if (options_.ceilings.empty()) measure_ceilings();
  return options_.ceilings;
}

bool WorkerLink::measure_ceilings() {
  const Answer answer = ask("ceilings", Json::object(), options_.timeouts.start);
  bool higher = false;
  for (size_t i = 0; i < answer.reply.ceilings.size(); ++i) {
    double& known = options_.ceilings[answer.reply.ceiling_ids.at(i)];
    higher = higher || answer.reply.ceilings[i] > known;
    known = std::max(known, answer.reply.ceilings[i]);
  }
  return higher;
}

bool WorkerLink::raise_ceilings() { return ceilings_raised_++ < options_.ceiling_doubts && measure_ceilings(); }

}  // namespace attune::tune
