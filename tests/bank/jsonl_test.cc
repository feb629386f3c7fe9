#include "bank/jsonl.h"

#include "bank/sample_records.h"
#include "bank/sqlite/sqlite_bank.h"
#include "base/error.h"
#include "base/sha256.h"
#include "io/temp_folder.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

std::string exported(const Bank& bank) {
  std::string text;
  export_jsonl(bank, {}, [&](std::string_view line) { text += line; });
  return text;
}

std::string lines_of(int count) {
  std::map<std::string, std::string> lines;
  for (int i = 0; i < count; ++i) lines[record_id(sample_record(i))] = jsonl_line(sample_record(i));
  std::string text;
  for (const auto& [id, line] : lines) text += line;
  return text;
}

TEST(Jsonl, line_opens_with_the_id_that_is_the_checksum_of_the_record) {
  const std::string line = jsonl_line(sample_record());
  EXPECT_EQ(line, "{\"rid\":\"" + sha256_hex(record_text(sample_record())) +
                      "\",\"record\":" + record_text(sample_record()) + "}\n");
}

TEST(Jsonl, goes_out_and_comes_back_byte_for_byte) {
  const TempFolder folder(TempFolder::in_memory());
  SqliteBank bank(folder.file("bank.sqlite"));
  Random random(23);
  for (int i = 0; i < 50; ++i) bank.add(random_record(random));
  const std::string text = exported(bank);
  const JsonlBank back(folder.write("bank.jsonl", text));
  EXPECT_TRUE(back.skipped().empty());
  EXPECT_EQ(exported(back), text);
  EXPECT_EQ(ids_of(back), ids_of(bank));
}

TEST(Jsonl, exports_only_what_the_filter_asks_for) {
  const TempFolder folder(TempFolder::in_memory());
  const JsonlBank bank(folder.write("bank.jsonl", lines_of(3)));
  std::string text;
  EXPECT_EQ(export_jsonl(bank, {.op = "MatMul"}, [&](std::string_view line) { text += line; }), 0);
  EXPECT_EQ(text, "");
  EXPECT_EQ(export_jsonl(bank, {.op = "Conv"}, [&](std::string_view line) { text += line; }), 3);
}

TEST(Jsonl, finds_the_records_of_a_key_and_the_best) {
  const TempFolder folder(TempFolder::in_memory());
  const JsonlBank bank(folder.write("bank.jsonl", lines_of(3)));
  EXPECT_EQ(bank.find(sample_key()).size(), 3u);
  EXPECT_TRUE(bank.find(sample_key(1)).empty());
  EXPECT_TRUE(bank.best(sample_key(), sample_environment));
}

TEST(Jsonl, skips_counts_and_reports_each_line_that_it_cannot_take) {
  const TempFolder folder(TempFolder::in_memory());
  const auto with_checksum = [](const std::string& text) {
    return "{\"rid\":\"" + sha256_hex(text) + "\",\"record\":" + text + "}\n";
  };
  std::string newer = record_text(sample_record(7)), unknown = newer;
  newer.replace(newer.find("\"schema\":1"), 10, "\"schema\":2");
  unknown.replace(unknown.find("\"schema\":1"), 10, "\"scale\":2,\"schema\":1");
  std::string flipped = jsonl_line(sample_record(1));
  flipped[200] = static_cast<char>(flipped[200] ^ 1);
  const std::string torn = jsonl_line(sample_record(2)).substr(0, 300);
  const JsonlBank bank(folder.write("bank.jsonl", jsonl_line(sample_record(0)) + flipped + with_checksum(newer) + "\n" +
                                                      with_checksum(unknown) + "<<<<<<< HEAD\n" +
                                                      jsonl_line(sample_record(3)) + torn));
  EXPECT_EQ(ids_of(bank), (std::set{record_id(sample_record(0)), record_id(sample_record(3))}));
  std::vector<std::pair<int64_t, SkipReason>> skipped;
  for (const SkippedLine& line : bank.skipped()) skipped.emplace_back(line.line, line.skip.reason);
  EXPECT_EQ(skipped, (std::vector<std::pair<int64_t, SkipReason>>{{2, SkipReason::damaged},
                                                                  {3, SkipReason::newer_schema},
                                                                  {5, SkipReason::unknown_field},
                                                                  {6, SkipReason::damaged},
                                                                  {8, SkipReason::damaged}}));
  EXPECT_EQ(bank.verify().problems.size(), 5u);
  EXPECT_NE(bank.verify().problems[1].find("line 3: of a newer schema (schema 2"), std::string::npos);
}

TEST(Jsonl, notices_every_changed_byte) {
  const std::string line = jsonl_line(sample_record());
  for (size_t i = 0; i + 1 < line.size(); ++i) {
    std::string changed = line.substr(0, line.size() - 1);
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_TRUE(std::holds_alternative<Skip>(parse_jsonl_line(changed))) << changed;
  }
}

TEST(Jsonl, takes_lines_in_any_order_more_than_once_and_with_foreign_line_ends) {
  const TempFolder folder(TempFolder::in_memory());
  std::string a = jsonl_line(sample_record(1)), b = jsonl_line(sample_record(2));
  b.insert(b.size() - 1, "\r");
  const JsonlBank bank(folder.write("bank.jsonl", b + a + b));
  EXPECT_TRUE(bank.skipped().empty());
  EXPECT_EQ(ids_of(bank).size(), 2u);
}

TEST(Jsonl, that_is_no_bank_is_refused) {
  const TempFolder folder(TempFolder::in_memory());
  EXPECT_THROW(JsonlBank(folder.write("a.jsonl", "{\"a\": 1}\n{\"b\": 2}\n")), UserError);
  EXPECT_THROW(JsonlBank(folder.file("nothing.jsonl")), UserError);
  EXPECT_TRUE(ids_of(JsonlBank(folder.write("empty.jsonl", ""))).empty());
}

TEST(Jsonl, is_not_written_as_a_bank) {
  const TempFolder folder(TempFolder::in_memory());
  JsonlBank bank(folder.write("bank.jsonl", lines_of(1)));
  EXPECT_THROW(bank.add(std::vector{sample_record()}), UserError);
  EXPECT_THROW(bank.remove(std::vector<std::string>{"x"}, Removal::for_good), UserError);
}

}  // namespace
}  // namespace attune
