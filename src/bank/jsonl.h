// A bank as JSON lines, for review, version control and the way to other machines: one record a line, sorted, each line
// with the SHA-256 of its record, which is the record's id:
//   {"rid":"<64 digits>","record":{...}}
// `LC_ALL=C sort -u a.jsonl b.jsonl` is the union of two such files.
#pragma once

#include "bank/bank.h"
#include "bank/record_text.h"

#include <filesystem>
#include <map>

namespace attune {

struct SkippedLine {
  int64_t line = 0;  // from 1
  Skip skip;
};

std::string jsonl_line(const Record& record);  // with the newline
std::variant<Record, Skip> parse_jsonl_line(std::string_view line);

/// Hands the lines to `write`, sorted. Returns how many.
int64_t export_jsonl(const Bank& bank, const RecordFilter& filter, const std::function<void(std::string_view)>& write);

/// The records of a file of JSON lines, in memory and read-only. A line that is damaged, or of a newer version, is
/// skipped and remembered; the rest counts.
class JsonlBank final : public Bank {
 public:
  /// Throws UserError when the file cannot be read or none of its lines is the line of a bank.
  explicit JsonlBank(const std::filesystem::path& path);

  const std::vector<SkippedLine>& skipped() const { return skipped_; }

  std::string name() const override { return path_.string(); }
  AddCounts add(std::span<const Record> records) override;
  int64_t remove(std::span<const std::string> ids, Removal removal) override;
  void each(const RecordFilter& filter, const RecordVisitor& visit) const override;
  std::vector<Record> find(const BankKey& key) const override;
  BankHealth verify() const override;

 private:
  [[noreturn]] void refuse_writing() const;

  std::filesystem::path path_;
  std::map<std::string, Record> records_;  // by id
  std::vector<SkippedLine> skipped_;
};

}  // namespace attune
