#include "bank/sqlite/record_row.h"

#include "bank/record_text.h"
#include "base/error.h"

#include <cstring>
#include <limits>

namespace attune::sqlite {
namespace {

std::vector<double> doubles_of(std::span<const std::byte> bytes) {
  std::vector<double> values(bytes.size() / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
  return values;
}

int int_of(int64_t value) {
  return value >= 0 && value <= std::numeric_limits<int>::max() ? static_cast<int>(value) : 0;
}

}  // namespace

std::string select_rows(std::string_view rest) {
  return fmt::format(
      "SELECT r.rid, d.canon, w.canon, r.mode, r.threads, r.provider, e.canon, c.canon, r.outcome, r.samples_ns, "
      "r.ratio, r.ratio_low, r.ratio_high, r.max_error, r.tolerance, r.message, r.measured_at, r.session, "
      "r.tool_version, r.origin FROM record r JOIN device d ON d.id = r.device JOIN workload w ON w.id = r.workload "
      "JOIN environment e ON e.id = r.environment JOIN config c ON c.id = r.config {}",
      rest);
}

Record read_row(const Query& row) {
  Record record;
  int column = kIdColumn;
  record.key.device = row.text(++column);
  record.key.workload = row.text(++column);
  record.key.mode = row.text(++column);
  record.key.threads = int_of(row.integer(++column));
  record.provider = row.text(++column);
  record.environment = row.text(++column);
  record.config = config_of_json(row.text(++column));
  // What this version does not know counts for nothing; the id tells that the row is not as it was written.
  record.outcome = outcome_of_name(row.text(++column)).value_or(Outcome::infrastructure);
  record.samples_ns = doubles_of(row.blob(++column));
  const auto value = row.optional_real(++column), low = row.optional_real(++column), high = row.optional_real(++column);
  if (value && low && high) record.ratio = Ratio{*value, *low, *high};
  record.max_error = row.optional_real(++column);
  record.tolerance = row.real(++column);
  record.message = row.text(++column);
  record.measured_at = row.integer(++column);
  record.session = row.text(++column);
  record.tool_version = row.text(++column);
  record.origin = row.text(kOriginColumn) == kLocal ? Origin::local : Origin::imported;
  return record;
}

void insert_row(Database& database, const std::string& id, const TextIds& texts, const Record& record) {
  Query row = database.query(
      "INSERT INTO record(rid, device, workload, mode, threads, provider, environment, config, outcome, samples_ns, "
      "ratio, ratio_low, ratio_high, max_error, tolerance, message, measured_at, session, tool_version, origin) "
      "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)");
  std::optional<double> value, low, high;
  if (record.ratio) value = record.ratio->value, low = record.ratio->low, high = record.ratio->high;
  row.bind(1, id).bind(2, texts.device).bind(3, texts.workload).bind(4, record.key.mode);
  row.bind(5, int64_t{record.key.threads}).bind(6, record.provider).bind(7, texts.environment).bind(8, texts.config);
  row.bind(9, outcome_name(record.outcome)).bind_blob(10, std::as_bytes(std::span(record.samples_ns)));
  row.bind(11, value).bind(12, low).bind(13, high).bind(14, record.max_error).bind(15, record.tolerance);
  row.bind(16, record.message).bind(17, record.measured_at).bind(18, record.session).bind(19, record.tool_version);
  row.bind(20, record.origin == Origin::local ? kLocal : kImported);
  row.run();
}

}  // namespace attune::sqlite
