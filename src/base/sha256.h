// SHA-256 (FIPS 180-4), for names of contents that must never be confused and that other programs can check
// (sha256sum, PostgreSQL's sha256()).
#pragma once

#include <string>
#include <string_view>

namespace attune {

/// 64 hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace attune
