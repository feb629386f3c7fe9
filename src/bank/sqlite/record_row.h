// A record as a row of the table `record`.
#pragma once

#include "bank/record.h"
#include "bank/sqlite/database.h"

namespace attune::sqlite {

/// Rows of the tables of texts that a record refers to.
struct TextIds {
  int64_t device = 0, workload = 0, environment = 0, config = 0;
};

// Of select_rows(): the id and the origin as they are stored.
inline constexpr int kIdColumn = 0, kOriginColumn = 19;
inline constexpr std::string_view kLocal = "local", kImported = "imported";

/// "SELECT ... FROM record r ..." in the form that read_row() reads, ended by `rest`.
std::string select_rows(std::string_view rest);
Record read_row(const Query& row);
void insert_row(Database& database, const std::string& id, const TextIds& texts, const Record& record);

}  // namespace attune::sqlite
