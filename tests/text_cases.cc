#include "text_cases.h"

#include <fstream>

namespace attune::test {
namespace {

void read_file(const std::filesystem::path& file, std::vector<TextCase>& cases) {
  std::ifstream in(file);
  std::string line;
  std::string* into = nullptr;
  while (std::getline(in, line)) {
    if (line.starts_with("=== ")) {
      cases.push_back({file.stem().string() + ": " + line.substr(4), "", "", ""});
      into = &cases.back().graph;
    } else if (line.starts_with("--- ")) {
      cases.back().expectation = line.substr(4);
      into = &cases.back().expected;
    } else if (into != nullptr) {
      *into += line + "\n";
    }
  }
}

}  // namespace

std::vector<TextCase> read_text_cases(const std::filesystem::path& folder) {
  std::vector<TextCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".test") read_file(entry.path(), cases);
  return cases;
}

}  // namespace attune::test
