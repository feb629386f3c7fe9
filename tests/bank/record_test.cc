#include "bank/record_text.h"

#include "bank/sample_records.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace attune {
namespace {

Record parsed(const std::string& text) {
  const auto result = parse_record(text);
  if (const auto* skip = std::get_if<Skip>(&result)) throw std::runtime_error(skip->detail);
  return std::get<Record>(result);
}

TEST(Outcome, has_one_name_each_way) {
  for (const std::string_view name : outcome_names()) EXPECT_EQ(outcome_name(outcome_of_name(name).value()), name);
  EXPECT_FALSE(outcome_of_name("fine"));
}

TEST(Record, reads_back_from_its_text) {
  Random random(7);
  for (int i = 0; i < 200; ++i) {
    Record record = random_record(random);
    EXPECT_EQ(parsed(record_text(record)), record);
  }
}

TEST(Record, has_the_text_that_other_programs_write_too) {
  // As Python does: json.dumps(record, separators=(",", ":"), sort_keys=True, ensure_ascii=False).
  Record record = sample_record();
  record.key = {"cpu \u00b5", "Relu@14 {}", "high_precision", 2};
  record.environment = "tab\t";
  record.config = {{"b", "2"}, {"a", "\"1\""}};
  record.samples_ns = {1000, 0.1, 149999.99999999997, 1e15, 1e16, 1.5e-7, 5e-324, 2.2250738585072014e-308};
  EXPECT_EQ(record_text(record),
            R"({"config":{"a":"\"1\"","b":"2"},"device":"cpu µ","environment":"tab\t","max_error":1e-06,)"
            R"("measured_at":1700000000,"message":"","mode":"high_precision","outcome":"ok","provider":"onednn",)"
            R"("ratio":{"high":0.85,"low":0.75,"value":0.8},"samples_ns":[1000.0,0.1,149999.99999999997,)"
            R"(1000000000000000.0,1e+16,1.5e-07,5e-324,2.2250738585072014e-308],"schema":1,"session":"s1",)"
            R"("threads":2,"tolerance":1e-05,"tool":"0.1.0","workload":"Relu@14 {}"})");
}

TEST(Record, keeps_bytes_that_are_no_utf8_and_errors_that_are_no_number) {
  Record record = sample_record();
  record.message = "\xff\xfe killed\n";
  record.key.workload = std::string("Conv@1 {x=\x80\0y}", 14);
  record.outcome = Outcome::wrong;
  record.max_error = std::numeric_limits<double>::infinity();
  EXPECT_EQ(parsed(record_text(record)), record);
}

TEST(Record, has_an_id_that_changes_with_every_field_but_the_origin) {
  const std::string before = record_id(sample_record());
  EXPECT_EQ(before.size(), 64u);
  for (const auto change : std::initializer_list<void (*)(Record&)>{
           [](Record& r) { r.key.device += "x"; },
           [](Record& r) { r.key.workload += "x"; },
           [](Record& r) { r.key.mode += "x"; },
           [](Record& r) { ++r.key.threads; },
           [](Record& r) { r.provider += "x"; },
           [](Record& r) { r.environment += "x"; },
           [](Record& r) { r.config["x"] = "y"; },
           [](Record& r) { r.outcome = Outcome::implausible; },
           [](Record& r) { r.samples_ns[1] = std::nextafter(r.samples_ns[1], 2e3); },
           [](Record& r) { r.ratio->value = std::nextafter(r.ratio->value, 1.0); },
           [](Record& r) { r.ratio->low = std::nextafter(r.ratio->low, 1.0); },
           [](Record& r) { r.ratio->high = std::nextafter(r.ratio->high, 1.0); },
           [](Record& r) { r.ratio.reset(); },
           [](Record& r) { r.max_error = 0; },
           [](Record& r) { r.max_error.reset(); },
           [](Record& r) { r.tolerance *= 2; },
           [](Record& r) { r.message = "x"; },
           [](Record& r) { ++r.measured_at; },
           [](Record& r) { r.session += "x"; },
           [](Record& r) { r.tool_version += "x"; }}) {
    Record record = sample_record();
    change(record);
    EXPECT_NE(record_id(record), before) << record_text(record);
  }
  Record imported = sample_record();
  imported.origin = Origin::imported;
  EXPECT_EQ(record_id(imported), before);
}

TEST(Record, is_verified_only_when_it_was_compared_and_close) {
  EXPECT_TRUE(is_verified(sample_record()));
  Record record = sample_record();
  record.max_error.reset();
  EXPECT_FALSE(is_verified(record));
  record.max_error = record.tolerance * 1.01;
  EXPECT_FALSE(is_verified(record));
  record = sample_record();
  record.outcome = Outcome::implausible;
  EXPECT_FALSE(is_verified(record));
}

TEST(Record, with_a_flaw_is_refused_in_words) {
  for (const auto& [change, words] : std::initializer_list<std::pair<void (*)(Record&), const char*>>{
           {[](Record& r) { r.key.device.clear(); }, "'device' is empty"},
           {[](Record& r) { r.key.threads = 0; }, "0 threads"},
           {[](Record& r) { r.config["a"] = "\n"; }, "plain text"},
           {[](Record& r) { r.samples_ns[0] = -1; }, "not a time"},
           {[](Record& r) { r.samples_ns.clear(); }, "without samples"},
           {[](Record& r) { r.ratio->low = 0.9; }, "not within its interval"},
           {[](Record& r) { r.max_error = std::nan(""); }, "max_error"},
           {[](Record& r) { r.tolerance = -1; }, "tolerance"},
           {[](Record& r) { r.measured_at = -1; }, "1970"}}) {
    Record record = sample_record();
    change(record);
    const auto flaw = find_flaw(record);
    ASSERT_TRUE(flaw) << words;
    EXPECT_NE(flaw->find(words), std::string::npos) << *flaw;
  }
  EXPECT_FALSE(find_flaw(sample_record()));
}

TEST(ParseRecord, says_why_a_text_is_skipped) {
  const std::string good = record_text(sample_record());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  const auto reason = [](const std::string& text) { return std::get<Skip>(parse_record(text)).reason; };
  EXPECT_EQ(reason("nonsense"), SkipReason::damaged);
  EXPECT_EQ(reason("[1]"), SkipReason::damaged);
  EXPECT_EQ(reason(with("\"schema\":1", "\"schema\":2")), SkipReason::newer_schema);
  EXPECT_EQ(reason(with("\"schema\":1", "\"scale\":3,\"schema\":1")), SkipReason::unknown_field);
  EXPECT_EQ(reason(with("\"outcome\":\"ok\"", "\"outcome\":\"fine\"")), SkipReason::invalid);
  EXPECT_EQ(reason(with("\"threads\":2", "\"threads\":4294967298")), SkipReason::invalid);
  EXPECT_EQ(reason(with("\"threads\":2", "\"threads\":\"2\"")), SkipReason::invalid);
  EXPECT_EQ(reason(with("\"session\":\"s1\",", "")), SkipReason::invalid);
  EXPECT_EQ(reason(with("\"threads\":2", "\"threads\": 2")), SkipReason::invalid);
}

}  // namespace
}  // namespace attune
