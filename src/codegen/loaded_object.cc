#include "codegen/loaded_object.h"

#include "base/error.h"
#include "codegen/elf_object.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

namespace attune {
namespace {

struct ExternalFunction {
  std::string_view name;
  const void* address;
};

/// What compilers call on their own for copies and fills.
const ExternalFunction kExternals[] = {
    {"memcpy", reinterpret_cast<const void*>(&std::memcpy)},
    {"memmove", reinterpret_cast<const void*>(&std::memmove)},
    {"memset", reinterpret_cast<const void*>(&std::memset)},
};

const void* find_external(std::string_view name) {
  for (const ExternalFunction& external : kExternals)
    if (external.name == name) return external.address;
#ifdef __SANITIZE_ADDRESS__
  if (name.starts_with("__asan_"))
    if (const void* found = dlsym(RTLD_DEFAULT, std::string(name).c_str())) return found;
#endif
  throw UserError("the object code calls '{}', which generated code must not", name);
}

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

/// Groups of sections by what may be done with their pages.
enum Group : size_t { kCode, kConstants, kData, kGroups };

std::optional<Group> group_of(const ElfSection& section) {
  const bool has_contents = section.type == SHT_PROGBITS || section.type == SHT_NOBITS;
  if ((section.flags & SHF_ALLOC) == 0 || !has_contents || section.name == ".eh_frame") return std::nullopt;
  if ((section.flags & SHF_EXECINSTR) != 0) return kCode;
  return (section.flags & SHF_WRITE) != 0 ? kData : kConstants;
}

}  // namespace

class ObjectLoader {
 public:
  explicit ObjectLoader(std::span<const std::byte> bytes) : elf_(read_elf_object(bytes)) {}

  std::shared_ptr<const LoadedObject> load() {
    lay_out();
    object_ = std::shared_ptr<LoadedObject>(new LoadedObject);
    void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw UserError("there is no memory for {} bytes of object code", size_);
    object_->memory_ = static_cast<std::byte*>(memory);
    object_->size_bytes_ = size_;
    copy_sections();
    for (const ElfRelocation& relocation : elf_.relocations) relocate(relocation);
    protect();
    name_functions();
    return object_;
  }

 private:
  static constexpr size_t kStubBytes = 16;  // a jump through the address behind it
  static constexpr size_t kSlotBytes = 8;
  static constexpr size_t kLargestObject = 128u << 20;

  /// Sections by group; stubs for calls of external functions follow the code, slots with addresses the constants.
  void lay_out() {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    offsets_.assign(elf_.sections.size(), kAbsent);
#ifndef __SANITIZE_ADDRESS__  // which has one of its own, for things that the process has done already
    for (const ElfSection& section : elf_.sections)
      if (section.type == SHT_INIT_ARRAY) throw UserError("the object code has a constructor, which would not run");
#endif
    for (size_t group = 0; group < kGroups; ++group) {
      size_ = round_up(size_, page);
      begins_[group] = size_;
      for (size_t i = 0; i < elf_.sections.size(); ++i) {
        const ElfSection& section = elf_.sections[i];
        if (group_of(section) != static_cast<Group>(group)) continue;
        size_ = round_up(size_, section.alignment);
        offsets_[i] = size_;
        size_ += section.size_bytes;
        if (size_ > kLargestObject) throw UserError("the object code is too large: more than {} bytes", kLargestObject);
      }
      size_ = round_up(size_, kStubBytes);
      if (group == kCode) stubs_ = size_, size_ += elf_.symbols.size() * kStubBytes;
      if (group == kConstants) slots_ = size_, size_ += elf_.symbols.size() * kSlotBytes;
    }
    size_ = round_up(size_, page);
    begins_[kGroups] = size_;
  }

  void copy_sections() {
    for (size_t i = 0; i < elf_.sections.size(); ++i)
      if (offsets_[i] != kAbsent && !elf_.sections[i].contents.empty())
        std::memcpy(object_->memory_ + offsets_[i], elf_.sections[i].contents.data(), elf_.sections[i].contents.size());
  }

  /// Where a symbol is in memory; external ones at their stub, which lies near enough.
  uint64_t address_of(uint32_t index) {
    const ElfSymbol& symbol = elf_.symbols[index];
    if (symbol.section == SHN_UNDEF) return reinterpret_cast<uint64_t>(make_stub(index));
    if (symbol.section >= offsets_.size() || offsets_[symbol.section] == kAbsent)
      throw UserError("the object code refers to something that is not loaded: '{}'", symbol.name);
    return reinterpret_cast<uint64_t>(object_->memory_ + offsets_[symbol.section]) + symbol.value;
  }

  std::byte* make_stub(uint32_t index) {
    constexpr std::array<uint8_t, 6> kJump{0xFF, 0x25, 0, 0, 0, 0};  // jmp [rip]
    const void* target = find_external(elf_.symbols[index].name);
    std::byte* stub = object_->memory_ + stubs_ + index * kStubBytes;
    std::memcpy(stub, kJump.data(), kJump.size());
    std::memcpy(stub + kJump.size(), &target, sizeof target);
    return stub;
  }

  /// A place that holds the symbol's address, as code for position-independent data reads it.
  uint64_t slot_of(uint32_t index) {
    const ElfSymbol& symbol = elf_.symbols[index];
    uint64_t address = 0;  // of a weak symbol that nobody defines
    if (symbol.section != SHN_UNDEF)
      address = address_of(index);
    else if (!symbol.weak)
      address = reinterpret_cast<uint64_t>(find_external(symbol.name));
    std::byte* slot = object_->memory_ + slots_ + index * kSlotBytes;
    std::memcpy(slot, &address, sizeof address);
    return reinterpret_cast<uint64_t>(slot);
  }

  void relocate(const ElfRelocation& relocation) {
    if (offsets_[relocation.section] == kAbsent) return;  // debug information and the like
    const auto addend = static_cast<uint64_t>(relocation.addend);
    switch (relocation.type) {
      case R_X86_64_64: return patch<uint64_t>(relocation, address_of(relocation.symbol) + addend);
      case R_X86_64_PC32:
      case R_X86_64_PLT32: return patch_relative(relocation, address_of(relocation.symbol) + addend);
      case R_X86_64_GOTPCREL:
      case R_X86_64_GOTPCRELX:
      case R_X86_64_REX_GOTPCRELX: return patch_relative(relocation, slot_of(relocation.symbol) + addend);
      default: throw UserError("the object code has a relocation of type {}, which is not supported", relocation.type);
    }
  }

  std::byte* place(const ElfRelocation& relocation, size_t width) {
    const uint64_t size = elf_.sections[relocation.section].size_bytes;
    if (relocation.offset > size || size - relocation.offset < width)
      throw UserError("the object code is damaged: a relocation lies beyond its section");
    return object_->memory_ + offsets_[relocation.section] + relocation.offset;
  }

  template <class T> void patch(const ElfRelocation& relocation, T value) {
    std::memcpy(place(relocation, sizeof value), &value, sizeof value);
  }

  void patch_relative(const ElfRelocation& relocation, uint64_t target) {
    std::byte* at = place(relocation, sizeof(int32_t));
    const auto distance = static_cast<int64_t>(target - reinterpret_cast<uint64_t>(at));
    if (distance < std::numeric_limits<int32_t>::min() || distance > std::numeric_limits<int32_t>::max())
      throw UserError("the object code is damaged: a relocation reaches too far");
    patch<int32_t>(relocation, static_cast<int32_t>(distance));
  }

  void protect() {
    constexpr int kAccess[] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
    for (size_t group = 0; group < kGroups; ++group) {
      const size_t bytes = begins_[group + 1] - begins_[group];
      if (bytes > 0 && mprotect(object_->memory_ + begins_[group], bytes, kAccess[group]) != 0)
        throw UserError("the system does not let this process run generated code: {}", std::strerror(errno));
    }
  }

  void name_functions() {
    for (const ElfSymbol& symbol : elf_.symbols) {
      if (symbol.type != STT_FUNC || symbol.section >= offsets_.size() || offsets_[symbol.section] == kAbsent) continue;
      if (group_of(elf_.sections[symbol.section]) != kCode) continue;
      object_->functions_.emplace(symbol.name, offsets_[symbol.section] + symbol.value);
    }
  }

  static constexpr size_t kAbsent = std::numeric_limits<size_t>::max();

  ElfObject elf_;
  std::shared_ptr<LoadedObject> object_;  // shared: kernels of several plans may use one object
  std::vector<size_t> offsets_;           // of sections in memory
  std::array<size_t, kGroups + 1> begins_{};
  size_t size_ = 0, stubs_ = 0, slots_ = 0;
};

std::shared_ptr<const LoadedObject> LoadedObject::load(std::span<const std::byte> object) {
  return ObjectLoader(object).load();
}

LoadedObject::~LoadedObject() {
  if (memory_ != nullptr) munmap(memory_, size_bytes_);
}

const void* LoadedObject::function(std::string_view name) const {
  const auto found = functions_.find(name);
  if (found == functions_.end()) throw UserError("the object code has no function '{}'", name);
  return memory_ + found->second;
}

}  // namespace attune
