#include "bank/sqlite/check.h"

#include "bank/record_text.h"
#include "bank/sqlite/record_row.h"
#include "base/error.h"

namespace attune::sqlite {
namespace {

constexpr int64_t kRowsAtOnce = 512;

void check_pages(Database& database, BankHealth& health) {
  Query pages = database.query("PRAGMA integrity_check");
  while (pages.step())
    if (const std::string text = pages.text(0); text != "ok") health.problems.push_back("SQLite says: " + text);
  Query keys = database.query("PRAGMA foreign_key_check");
  while (keys.step())
    health.problems.push_back(fmt::format("row {} of '{}' refers to a row of '{}' that is gone", keys.integer(1),
                                          keys.text(0), keys.text(2)));
}

void check_texts(Database& database, std::string_view table, uint64_t (*hash)(std::string_view), BankHealth& health) {
  Query row = database.query(fmt::format("SELECT id, hash, canon FROM {}", table));
  while (row.step())
    if (row.integer(1) != static_cast<int64_t>(hash(row.text(2))))
      health.problems.push_back(fmt::format("row {} of '{}' is not where its hash says", row.integer(0), table));
}

/// What is wrong with the record of a row; empty when nothing is.
std::string problem_of(const Query& row) {
  try {
    const Record record = read_row(row);
    if (auto flaw = find_flaw(record)) return *flaw;
    if (const std::string origin = row.text(kOriginColumn); origin != kLocal && origin != kImported)
      return fmt::format("origin '{}' is unknown", origin);
    return record_id(record) == row.text(kIdColumn) ? "" : "other contents than when it was written";
  } catch (const UserError& error) {
    return error.what();
  }
}

}  // namespace

BankHealth check_bank(Database& database, uint64_t (*hash)(std::string_view)) {
  BankHealth health;
  check_pages(database, health);
  for (const std::string_view table : {"device", "workload", "environment", "config"})
    check_texts(database, table, hash, health);
  std::string last;
  int64_t rows = 0;
  do {
    rows = 0;
    Query row = database.query(select_rows("WHERE r.rid > ?1 ORDER BY r.rid LIMIT ?2"));
    row.bind(1, last).bind(2, kRowsAtOnce);
    for (; row.step(); ++rows) {
      last = row.text(kIdColumn);
      const std::string problem = problem_of(row);
      if (problem.empty()) continue;
      health.problems.push_back(fmt::format("record {}: {}", last.substr(0, 12), problem));
      health.damaged_ids.push_back(last);
    }
    health.records += rows;
  } while (rows == kRowsAtOnce);
  return health;
}

}  // namespace attune::sqlite
