#include "cli/output.h"

#include "base/error.h"

#include <gtest/gtest.h>

namespace attune::cli {
namespace {

Report sample() {
  return {{{"Nodes", {{"name"}, {"time", Align::right}}, {{"größe", "1.5"}, {"b", "10.25"}}}}, {{"nodes", 2}}};
}

TEST(Output, aligns_columns_by_characters_and_leaves_no_trailing_spaces) {
  EXPECT_EQ(to_text(sample()),
            "Nodes\n-----\n"
            "name    time\n"
            "größe    1.5\n"
            "b      10.25\n");
}

TEST(Output, separates_tables_by_an_empty_line) {
  Report report = sample();
  report.tables.push_back({"", {{"x"}}, {{"1"}}});
  EXPECT_NE(to_text(report).find("10.25\n\nx\n1\n"), std::string::npos);
}

TEST(Output, quotes_csv_fields_that_need_it) {
  const Report report{{{"", {{"a"}, {"b,c"}}, {{"say \"hi\"", "two\nlines"}}}}, {}};
  EXPECT_EQ(to_csv(report), "a,\"b,c\"\r\n\"say \"\"hi\"\"\",\"two\nlines\"\r\n");
}

TEST(Output, prints_several_tables_as_long_csv) {
  Report report = sample();
  report.tables.push_back({"Other", {{"x"}}, {{"1"}}});
  const std::string csv = to_csv(report);
  EXPECT_NE(csv.find("Nodes,2,time,10.25\r\n"), std::string::npos);
  EXPECT_NE(csv.find("Other,1,x,1\r\n"), std::string::npos);
}

TEST(Output, json_survives_names_that_are_no_utf8) {
  Report report;
  report.json["name"] = "a\xff";
  EXPECT_EQ(nlohmann::json::parse(to_json(report)).at("name"), "a\uFFFD");
}

TEST(Output, escapes_what_would_steer_a_terminal) {
  EXPECT_EQ(printable("a\x1b[31m\tb\n"), "a\\x1b[31m\\x09b\\x0a");
  EXPECT_EQ(printable("two\nlines", Newlines::keep), "two\nlines");
}

TEST(Output, a_row_of_the_wrong_length_is_a_bug) {
  EXPECT_THROW(to_text({{{"t", {{"a"}, {"b"}}, {{"1"}}}}, {}}), InternalError);
}

}  // namespace
}  // namespace attune::cli
