// Cases of the *.test files: "=== name", a graph, "--- expectation", and what is expected.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace attune::test {

struct TextCase {
  std::string name, graph, expectation, expected;
};

/// All cases of the *.test files in a folder.
std::vector<TextCase> read_text_cases(const std::filesystem::path& folder);

}  // namespace attune::test
