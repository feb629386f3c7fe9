// The *.cases files of the conformance suite: one for each family of operators, each a list of sections.
//
//   # a comment
//   === windows in every layout
//   for L in plain nhwc nchw8c nchw16c
//   for OP in MaxPool AveragePool
//   served onednn
//   $OP@19(f32[2x58x11x13]@$L) -> (?@$L) {kernel_shape = ints [3, 3]}
//
// A line is a workload, written as kernel/parse_workload.h tells; the usual contents of inputs are floats in [-1, 1].
// `for` makes every line after it stand for one workload with each of the words (quoted where they hold blanks).
// `served P` fails where provider P has nothing for any of the workloads that a line stands for; `refused P: words`
// fails where it does not refuse all of them, as they are written, with these words in the reason. Both are for
// providers of this build. `threads 1 3` runs the section with these numbers of threads in place of one for each core.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace attune::testing {

/// A written line with the lines it stands for.
struct CaseLine {
  int number = 0;  // in its file
  std::vector<std::string> expanded;
};

struct CaseSection {
  std::string file;  // "pool"
  std::string name;  // "windows in every layout"
  std::vector<CaseLine> lines;
  std::vector<std::string> served_by;
  std::map<std::string, std::string> refused_by;  // provider → words in the reason
  std::vector<int> threads;                       // empty: as many as the machine has cores
};

/// The sections of every *.cases file in a folder, in order of file names. Throws UserError naming file and line.
std::vector<CaseSection> read_case_files(const std::filesystem::path& folder);

}  // namespace attune::testing
