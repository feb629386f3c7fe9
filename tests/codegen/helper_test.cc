// The compiler in a process of its own: whose memory it uses, and what becomes of both when one of them ends.
#include "codegen/compile_text.h"
#include "codegen/helper_compiler.h"

#include <fmt/core.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

namespace attune::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{60};

HelperProcess::Programs programs() {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  return {folder / "attune-compile", folder / "libattune_codegen.so"};
}

#define SKIP_WITHOUT_HELPER() \
  if (!fs::exists(programs().helper)) GTEST_SKIP() << "this build has no " << programs().helper

HelperRequest request_of(const std::string& text) {
  HelperRequest request;
  request.source = {text, "kernel"};
  return request;
}

const std::string kText = "extern \"C\" int kernel() { return 7; }";

bool maps_llvm() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("libLLVM") != std::string::npos || line.find("libclang") != std::string::npos) return true;
  return false;
}

TEST(CompileHelper, keeps_the_compiler_out_of_this_process) {
  SKIP_WITHOUT_HELPER();
  const bool before = maps_llvm();  // another test may have loaded it
  const HelperCompiler compiler(programs(), "");
  const CompiledObject object = compiler.compile({kText, "kernel"}, {});
  ASSERT_TRUE(object.ok()) << object.error;
  EXPECT_EQ(function_of<int (*)()>(*LoadedObject::load(object.object), "kernel")(), 7);
  EXPECT_EQ(maps_llvm(), before);
}

TEST(CompileHelper, reports_a_crash_of_the_compiler_as_a_value_and_goes_on) {
  SKIP_WITHOUT_HELPER();
  const HelperCompiler compiler(programs(), "");
  const CompiledObject object = compiler.compile({"#pragma clang __debug crash\n", "kernel"}, {});
  EXPECT_FALSE(object.ok());
  EXPECT_NE(object.error.find("compile helper"), std::string::npos) << object.error;
  EXPECT_TRUE(compiler.compile({kText, "kernel"}, {}).ok());
}

TEST(CompileHelper, is_started_anew_when_it_has_left) {
  SKIP_WITHOUT_HELPER();
  std::string problem;
  const auto helper = HelperProcess::start(programs(), problem);
  ASSERT_NE(helper, nullptr) << problem;
  const pid_t pid = helper->pid();
  ASSERT_EQ(helper->ask(request_of(kText), kPatience).kind, HelperProcess::Answer::Kind::replied);
  kill(pid, SIGKILL);
  const auto answer = helper->ask(request_of(kText), kPatience);
  EXPECT_EQ(answer.kind, HelperProcess::Answer::Kind::gone);
  EXPECT_NE(answer.reply.error.find("signal 9"), std::string::npos) << answer.reply.error;
}

TEST(CompileHelper, ends_with_the_process_that_started_it) {
  SKIP_WITHOUT_HELPER();
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const pid_t user = fork();
  if (user == 0) {
    std::string problem;
    const auto helper = HelperProcess::start(programs(), problem);
    pid_t pid = -1;
    if (helper && helper->ask(request_of(kText), kPatience).kind == HelperProcess::Answer::Kind::replied)
      pid = helper->pid();
    if (write(pipes[1], &pid, sizeof pid) != sizeof pid) _exit(1);
    raise(SIGKILL);
  }
  pid_t helper = -1;
  ASSERT_EQ(read(pipes[0], &helper, sizeof helper), static_cast<ssize_t>(sizeof helper));
  close(pipes[0]);
  close(pipes[1]);
  waitpid(user, nullptr, 0);
  ASSERT_GT(helper, 0);
  // It may stay as an entry that nobody has collected, but not as a program.
  const auto runs = [&] {
    std::error_code gone;
    return !fs::read_symlink(fmt::format("/proc/{}/exe", helper), gone).empty();
  };
  for (int i = 0; i < 500 && runs(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(runs());
}

TEST(CompileHelper, compiles_in_this_process_where_no_helper_starts) {
  SKIP_WITHOUT_COMPILER();
  const HelperCompiler compiler({"/no/such/program", programs().module}, "");
  const CompiledObject object = compiler.compile({kText, "kernel"}, {});
  EXPECT_TRUE(object.ok()) << object.error;
}

TEST(CompileHelper, ends_what_does_not_answer) {
  HelperProcess::Programs silent{"/bin/sleep", "60"};
  if (!fs::exists(silent.helper)) GTEST_SKIP() << "no " << silent.helper;
  std::string problem;
  const auto helper = HelperProcess::start(silent, problem);
  ASSERT_NE(helper, nullptr) << problem;
  const auto answer = helper->ask(request_of(kText), std::chrono::milliseconds(50));
  EXPECT_EQ(answer.kind, HelperProcess::Answer::Kind::failed);
  EXPECT_NE(answer.reply.error.find("not answered"), std::string::npos) << answer.reply.error;
}

}  // namespace
}  // namespace attune::testing
