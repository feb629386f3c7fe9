// Runs the text cases of tests/graph/*.test: sections "=== name", a graph, "--- expect", and what must come of it.
//   print            the graph prints exactly as written
//   infer            after inference the graph prints as the text that follows
//   parse error: …   parsing fails and the message contains the text
//   verify error: …  the verifier refuses and the message contains the text
//   infer error: …   inference refuses and the message contains the text
#include "graph/text.h"

#include "graph/verify.h"
#include "ops/infer_graph.h"
#include "text_cases.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

using test::TextCase;

template <class F> std::string message_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void check(const TextCase& c) {
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
  for (const TextCase& c : test::read_text_cases(ATTUNE_TEST_SOURCE "/graph")) {
    SCOPED_TRACE(c.name);
    check(c);
    ++count;
  }
  EXPECT_GE(count, 20);
}

}  // namespace
}  // namespace attune
