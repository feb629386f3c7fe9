#include "bank/jsonl.h"

#include "base/error.h"
#include "base/file_map.h"
#include "base/sha256.h"

#include <algorithm>

namespace attune {
namespace {

constexpr std::string_view kBefore = R"({"rid":")", kBetween = R"(","record":)", kAfter = "}";
constexpr size_t kIdDigits = 64;

}  // namespace

std::string jsonl_line(const Record& record) {
  const std::string text = record_text(record);
  return fmt::format("{}{}{}{}{}\n", kBefore, sha256_hex(text), kBetween, text, kAfter);
}

std::variant<Record, Skip> parse_jsonl_line(std::string_view line) {
  constexpr size_t kHead = kBefore.size() + kIdDigits + kBetween.size();
  if (line.size() <= kHead + kAfter.size() || !line.starts_with(kBefore) || !line.ends_with(kAfter) ||
      line.substr(kBefore.size() + kIdDigits, kBetween.size()) != kBetween)
    return Skip{SkipReason::damaged, "not the line of a bank"};
  const std::string_view id = line.substr(kBefore.size(), kIdDigits);
  const std::string_view text = line.substr(kHead, line.size() - kHead - kAfter.size());
  if (sha256_hex(text) != id) return Skip{SkipReason::damaged, "its checksum does not fit"};
  return parse_record(text);
}

int64_t export_jsonl(const Bank& bank, const RecordFilter& filter, const std::function<void(std::string_view)>& write) {
  int64_t count = 0;
  bank.each(filter, [&](const Record& record) {
    write(jsonl_line(record));
    ++count;
  });
  return count;
}

JsonlBank::JsonlBank(const std::filesystem::path& path) : path_(path) {
  const auto file = FileMap::open(path);
  const auto bytes = file->bytes();
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (int64_t number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    auto parsed = parse_jsonl_line(line);
    if (auto* record = std::get_if<Record>(&parsed)) {
      record->origin = Origin::imported;
      records_.emplace(record_id(*record), std::move(*record));
    } else {
      skipped_.push_back({number, std::move(std::get<Skip>(parsed))});
    }
  }
  const auto is_damaged = [](const SkippedLine& line) { return line.skip.reason == SkipReason::damaged; };
  if (records_.empty() && !skipped_.empty() && std::ranges::all_of(skipped_, is_damaged))
    throw UserError("'{}' has no whole line of a bank; give a file that 'attune bank export' wrote", name());
}

void JsonlBank::refuse_writing() const {
  throw UserError("'{}' is a file of JSON lines, which attune only reads; 'attune bank import' takes it into a bank",
                  name());
}

AddCounts JsonlBank::add(std::span<const Record>) { refuse_writing(); }

int64_t JsonlBank::remove(std::span<const std::string>, Removal) { refuse_writing(); }

void JsonlBank::each(const RecordFilter& filter, const RecordVisitor& visit) const {
  for (const auto& [id, record] : records_)
    if (matches(filter, record)) visit(record);
}

std::vector<Record> JsonlBank::find(const BankKey& key) const {
  std::vector<Record> found;
  for (const auto& [id, record] : records_)
    if (record.key == key) found.push_back(record);
  return found;
}

BankHealth JsonlBank::verify() const {
  BankHealth health;
  health.records = static_cast<int64_t>(records_.size());
  for (const SkippedLine& line : skipped_)
    health.problems.push_back(
        fmt::format("line {}: {} ({})", line.line, skip_reason_text(line.skip.reason), line.skip.detail));
  return health;
}

}  // namespace attune
