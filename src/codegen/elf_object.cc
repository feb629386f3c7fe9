#include "codegen/elf_object.h"

#include "base/error.h"

#include <elf.h>

#include <bit>
#include <cstring>

namespace attune {
namespace {

constexpr uint64_t kLargestSection = 64u << 20;
constexpr uint64_t kLargestAlignment = 4096;  // a page: what a mapping gives

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  ElfObject read() {
    const auto header = load<Elf64_Ehdr>(0);
    check_header(header);
    for (uint64_t i = 0; i < header.e_shnum; ++i)
      headers_.push_back(load<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
    if (header.e_shstrndx >= headers_.size()) fail("its table of section names is missing");
    const auto names = contents(headers_[header.e_shstrndx]);
    for (const Elf64_Shdr& section : headers_) add_section(section, names);
    for (const Elf64_Shdr& section : headers_)
      if (section.sh_type == SHT_SYMTAB) read_symbols(section);
    for (const Elf64_Shdr& section : headers_) {
      if (section.sh_type == SHT_REL) fail("it has relocations of another kind");
      if (section.sh_type == SHT_RELA) read_relocations(section);
    }
    return std::move(object_);
  }

 private:
  [[noreturn]] static void fail(const char* what) { throw UserError("the object code is damaged: {}", what); }

  template <class T> T load(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) fail("it is truncated");
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  static void check_header(const Elf64_Ehdr& header) {
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL || header.e_machine != EM_X86_64)
      fail("it is no relocatable object for x86-64");
    if (header.e_shentsize != sizeof(Elf64_Shdr)) fail("its section headers have another size");
    // Offsets from here on are sums of a 64-bit number of the file and small ones; load() sees whether they wrapped.
    if (header.e_shoff > kLargestSection) fail("its section headers lie beyond its end");
  }

  std::span<const std::byte> contents(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) return {};
    if (section.sh_offset > bytes_.size() || bytes_.size() - section.sh_offset < section.sh_size)
      fail("a section lies beyond its end");
    return bytes_.subspan(section.sh_offset, section.sh_size);
  }

  static std::string_view text_at(std::span<const std::byte> table, uint64_t offset) {
    if (offset >= table.size()) fail("a name lies beyond its table");
    const auto* begin = reinterpret_cast<const char*>(table.data()) + offset;
    const auto* end = static_cast<const char*>(std::memchr(begin, 0, table.size() - offset));
    if (end == nullptr) fail("a name has no end");
    return {begin, end};
  }

  void add_section(const Elf64_Shdr& section, std::span<const std::byte> names) {
    if (section.sh_size > kLargestSection) fail("a section is too large");
    const uint64_t alignment = section.sh_addralign == 0 ? 1 : section.sh_addralign;
    if (!std::has_single_bit(alignment) || alignment > kLargestAlignment) fail("a section has a strange alignment");
    object_.sections.push_back({text_at(names, section.sh_name), section.sh_type, section.sh_flags, contents(section),
                                section.sh_size, alignment});
  }

  void read_symbols(const Elf64_Shdr& section) {
    if (!object_.symbols.empty()) fail("it has two symbol tables");
    if (section.sh_entsize != sizeof(Elf64_Sym) || section.sh_link >= headers_.size()) fail("its symbol table is odd");
    const auto names = contents(headers_[section.sh_link]);
    const auto table = contents(section);
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, table.data() + at, sizeof symbol);
      const bool defined = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < SHN_LORESERVE;
      if (defined && (symbol.st_shndx >= object_.sections.size() ||
                      symbol.st_value > object_.sections[symbol.st_shndx].size_bytes))
        fail("a symbol lies beyond its section");
      object_.symbols.push_back({text_at(names, symbol.st_name), static_cast<uint8_t>(ELF64_ST_TYPE(symbol.st_info)),
                                 ELF64_ST_BIND(symbol.st_info) == STB_WEAK, symbol.st_shndx, symbol.st_value});
    }
  }

  void read_relocations(const Elf64_Shdr& section) {
    if (section.sh_entsize != sizeof(Elf64_Rela) || section.sh_info >= headers_.size()) fail("its relocations are odd");
    const auto table = contents(section);
    for (size_t at = 0; at + sizeof(Elf64_Rela) <= table.size(); at += sizeof(Elf64_Rela)) {
      Elf64_Rela entry;
      std::memcpy(&entry, table.data() + at, sizeof entry);
      const auto symbol = static_cast<uint32_t>(ELF64_R_SYM(entry.r_info));
      if (symbol >= object_.symbols.size()) fail("a relocation names no symbol");
      object_.relocations.push_back(
          {section.sh_info, entry.r_offset, static_cast<uint32_t>(ELF64_R_TYPE(entry.r_info)), symbol, entry.r_addend});
    }
  }

  std::span<const std::byte> bytes_;
  std::vector<Elf64_Shdr> headers_;
  ElfObject object_;
};

}  // namespace

ElfObject read_elf_object(std::span<const std::byte> bytes) { return Reader(bytes).read(); }

}  // namespace attune
