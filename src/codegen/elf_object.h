// The parts of a relocatable ELF64 object for x86-64 that loading needs. Object code also comes from plan files, which
// may come from anyone: everything is checked against the file's size before it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace attune {

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;
  uint64_t flags = 0;
  std::span<const std::byte> contents;  // empty for zeroed ones (NOBITS)
  uint64_t size_bytes = 0;
  uint64_t alignment = 1;
};

struct ElfSymbol {
  std::string_view name;
  uint8_t type = 0;
  bool weak = false;
  uint16_t section = 0;  // SHN_UNDEF: external
  uint64_t value = 0;    // within its section
};

struct ElfRelocation {
  uint32_t section = 0;  // that is patched
  uint64_t offset = 0;
  uint32_t type = 0;
  uint32_t symbol = 0;
  int64_t addend = 0;
};

/// Views into the bytes that it was read from.
struct ElfObject {
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;
  std::vector<ElfRelocation> relocations;
};

/// Throws UserError for anything but a whole object of this kind. Afterwards every section index, symbol index and
/// symbol value is within bounds; offsets of relocations are not checked yet, as their width depends on the type.
ElfObject read_elf_object(std::span<const std::byte> bytes);

}  // namespace attune
