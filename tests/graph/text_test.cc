// Runs the text cases of tests/graph/*.test: sections "=== name", a graph, "--- expect", and what must come of it.
//   print            the graph prints exactly as written
//   infer            after inference the graph prints as the text that follows
//   parse error: …   parsing fails and the message contains the text
//   verify error: …  the verifier refuses and the message contains the text
//   infer error: …   inference refuses and the message contains the text
#include "graph/text.h"

#include "graph/verify.h"
#include "ops/infer_graph.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace attune {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string name, graph, expectation, expected;
};

std::vector<Case> read_cases(const fs::path& file) {
  std::ifstream in(file);
  std::vector<Case> cases;
  std::string line;
  std::string* into = nullptr;
  while (std::getline(in, line)) {
    if (line.starts_with("=== ")) {
      cases.push_back({file.stem().string() + ": " + line.substr(4), "", "", ""});
      into = &cases.back().graph;
    } else if (line.starts_with("--- ")) {
      cases.back().expectation = line.substr(4);
      into = &cases.back().expected;
    } else if (into != nullptr) {
      *into += line + "\n";
    }
  }
  return cases;
}

template <class F> std::string message_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void check(const Case& c) {
  const auto wants = [&](std::string_view prefix) { return c.expectation.starts_with(prefix); };
  const auto expect_message = [&](const std::string& message, std::string_view prefix) {
    const std::string wanted = c.expectation.substr(prefix.size());
    EXPECT_NE(message.find(wanted), std::string::npos) << "message: '" << message << "', wanted: '" << wanted << "'";
  };
  if (wants("parse error: ")) return expect_message(message_of([&] { parse_graph(c.graph); }), "parse error: ");
  Graph graph = parse_graph(c.graph);
  if (wants("verify error: ")) return expect_message(message_of([&] { verify(graph); }), "verify error: ");
  verify(graph);
  if (wants("infer error: ")) return expect_message(message_of([&] { infer_graph(graph); }), "infer error: ");
  if (wants("infer")) {
    apply_facts(graph, infer_graph(graph));
    EXPECT_EQ(to_text(graph), c.expected);
    return;
  }
  ASSERT_EQ(c.expectation, "print");
  EXPECT_EQ(to_text(graph), c.graph);
}

TEST(GraphText, cases_hold) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(ATTUNE_TEST_SOURCE "/graph")) {
    if (entry.path().extension() != ".test") continue;
    for (const Case& c : read_cases(entry.path())) {
      SCOPED_TRACE(c.name);
      check(c);
      ++count;
    }
  }
  EXPECT_GE(count, 20);
}

}  // namespace
}  // namespace attune
