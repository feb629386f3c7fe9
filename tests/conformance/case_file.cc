#include "conformance/case_file.h"

#include "base/error.h"

#include <algorithm>
#include <fstream>

namespace attune::testing {
namespace {

using Variables = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Words separated by blanks; one in quotes may hold blanks.
std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = text.find_first_not_of(' '); at < text.size(); at = text.find_first_not_of(' ', at)) {
    const bool quoted = text[at] == '"';
    const size_t begin = quoted ? at + 1 : at;
    const size_t end = std::min(text.find(quoted ? '"' : ' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    at = end + 1;
  }
  return words;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::vector<std::string> expand(const std::string& line, const Variables& variables) {
  std::vector<std::string> lines = {line};
  for (const auto& [name, values] : variables) {
    if (line.find("$" + name) == std::string::npos) continue;
    std::vector<std::string> next;
    for (const std::string& one : lines)
      for (const std::string& value : values) next.push_back(replaced(one, "$" + name, value));
    lines = std::move(next);
  }
  for (const std::string& one : lines)
    if (one.find('$') != std::string::npos) throw UserError("'{}' names a variable that no `for` has", one);
  return lines;
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : path_(path), in_(path) {}

  std::vector<CaseSection> run() {
    std::string line;
    while (std::getline(in_, line)) {
      ++number_;
      try {
        add(line);
      } catch (const UserError& error) {
        throw UserError("{}:{}: {}", path_.string(), number_, error.what());
      }
    }
    return std::move(sections_);
  }

 private:
  void add(const std::string& line) {
    if (line.empty() || line[0] == '#') return;
    if (line.starts_with("=== ")) {
      sections_.push_back({path_.stem().string(), line.substr(4), {}, {}, {}, {}});
      variables_.clear();
      return;
    }
    if (sections_.empty()) throw UserError("a section '=== name' has to come first");
    CaseSection& section = sections_.back();
    if (line.starts_with("for ")) {
      auto words = split_words(line.substr(4));
      if (words.size() < 3 || words[1] != "in") throw UserError("expected: for NAME in words");
      for (const auto& [name, values] : variables_)
        if (name.starts_with(words[0]) || words[0].starts_with(name))
          throw UserError("'{}' and '{}' begin alike, so $ could mean either", name, words[0]);
      variables_.emplace_back(words[0], std::vector<std::string>(words.begin() + 2, words.end()));
    } else if (line.starts_with("served ")) {
      for (auto& provider : split_words(line.substr(7))) section.served_by.push_back(provider);
    } else if (line.starts_with("threads ")) {
      for (const auto& count : split_words(line.substr(8))) section.threads.push_back(std::stoi(count));
    } else if (line.starts_with("refused ")) {
      const size_t colon = line.find(": ");
      if (colon == std::string::npos) throw UserError("expected: refused PROVIDER: words");
      section.refused_by[line.substr(8, colon - 8)] = line.substr(colon + 2);
    } else {
      section.lines.push_back({number_, expand(line, variables_)});
    }
  }

  std::filesystem::path path_;
  std::ifstream in_;
  int number_ = 0;
  Variables variables_;
  std::vector<CaseSection> sections_;
};

}  // namespace

std::vector<CaseSection> read_case_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".cases") files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<CaseSection> sections;
  for (const auto& file : files)
    for (CaseSection& section : Reader(file).run()) sections.push_back(std::move(section));
  return sections;
}

}  // namespace attune::testing
