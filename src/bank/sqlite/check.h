// Reads the whole file of a bank and says what is not as it was written.
#pragma once

#include "bank/bank.h"
#include "bank/sqlite/database.h"

namespace attune::sqlite {

BankHealth check_bank(Database& database, uint64_t (*hash)(std::string_view));

}  // namespace attune::sqlite
