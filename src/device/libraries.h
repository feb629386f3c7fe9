// The libraries that this build of attune uses or looked for.
#pragma once

#include <string>
#include <vector>

namespace attune {

struct Library {
  std::string name;
  std::string purpose;
  std::string version;  // empty when it was not found or does not tell
  bool found = false;
  std::string remedy;  // how to get it
};

std::vector<Library> libraries();

}  // namespace attune
