// AMX needs more than a CPUID bit: Linux grants its registers on request, and a virtual machine may advertise what it
// does not give.
#pragma once

namespace attune {

struct AmxTypes {
  bool bf16 = false;
  bool int8 = false;
};

/// Asks the kernel for the tile registers, for all threads of this process. Needed before the first tile instruction.
bool request_amx();

/// Executes tile instructions of the given types in a child process, which may die of it; true when it survived.
bool try_amx(AmxTypes types);

}  // namespace attune
