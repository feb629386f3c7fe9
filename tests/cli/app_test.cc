// The frame with verbs of the test's own: every kind of failure becomes a message and an exit code.
#include "cli/app.h"

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <new>
#include <stdexcept>

namespace attune::cli {
namespace {

template <class Throw> Action failing(const Throw& fail) {
  return [fail]() -> ExitCode {
    fail();
    return ExitCode::ok;
  };
}

const Verb kTestVerbs[] = {
    {"user", "Test", "fails by its user", [](CLI::App&) { return failing([] { throw UserError("bad input"); }); }},
    {"unsupported", "Test", "lacks something",
     [](CLI::App&) { return failing([] { throw UnsupportedError("op 'Foo'"); }); }},
    {"device", "Test", "lacks a device",
     [](CLI::App&) { return failing([] { throw Error(ExitCode::device, "no GPU"); }); }},
    {"bug", "Test", "breaks an invariant", [](CLI::App&) { return failing([] { throw InternalError("oops"); }); }},
    {"memory", "Test", "runs out of memory", [](CLI::App&) { return failing([] { throw std::bad_alloc(); }); }},
    {"stranger", "Test", "throws another exception",
     [](CLI::App&) { return failing([] { throw std::runtime_error("strange"); }); }},
    {"number", "Test", "throws no exception object", [](CLI::App&) { return failing([] { throw 7; }); }},
    {"escape", "Test", "shows a name out of a file",
     [](CLI::App&) { return failing([] { throw UserError("node '\x1b[2J'"); }); }},
    {"verdict", "Test", "ends with a verdict", [](CLI::App&) -> Action { return [] { return ExitCode::accuracy; }; }},
    {"needy", "Test", "needs a flag",
     [](CLI::App& verb) -> Action {
       auto model = std::make_shared<std::string>();
       verb.add_option("--model", *model, "The model")->required();
       return [model] { return *model == "m" ? ExitCode::ok : ExitCode::internal; };
     }},
};

struct Outcome {
  int exit_code;
  std::string err;
};

Outcome run(std::vector<const char*> words) {
  words.insert(words.begin(), "attune");
  testing::internal::CaptureStderr();
  const int code = run_command_line(static_cast<int>(words.size()), words.data(), kTestVerbs);
  return {code, testing::internal::GetCapturedStderr()};
}

TEST(App, maps_every_failure_to_its_exit_code) {
  EXPECT_EQ(run({"user"}).exit_code, 2);
  EXPECT_EQ(run({"user"}).err, "attune: error: bad input\n");
  EXPECT_EQ(run({"unsupported"}).exit_code, 3);
  EXPECT_EQ(run({"device"}).exit_code, 7);
  EXPECT_EQ(run({"verdict"}).exit_code, 4);
  EXPECT_EQ(run({"memory"}).exit_code, 2);
  EXPECT_NE(run({"memory"}).err.find("out of memory"), std::string::npos);
}

TEST(App, owns_up_to_its_bugs) {
  for (const char* verb : {"bug", "stranger", "number"}) {
    const Outcome outcome = run({verb});
    EXPECT_EQ(outcome.exit_code, 1) << verb;
    EXPECT_NE(outcome.err.find("this is a bug in attune"), std::string::npos) << verb;
  }
}

TEST(App, explains_a_misspelt_flag_rather_than_a_missing_one) {
  EXPECT_NE(run({"needy", "--modle", "m"}).err.find("did you mean '--model'?"), std::string::npos);
  EXPECT_NE(run({"needy"}).err.find("--model"), std::string::npos);
  EXPECT_EQ(run({"needy"}).exit_code, 2);
  EXPECT_EQ(run({"needy", "--model", "m"}).exit_code, 0);
}

TEST(App, never_sends_escape_sequences_to_the_terminal) {
  EXPECT_EQ(run({"escape"}).err, "attune: error: node '\\x1b[2J'\n");
}

}  // namespace
}  // namespace attune::cli
