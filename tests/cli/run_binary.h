// Runs the built attune program and collects what it says.
#pragma once

#include "io/temp_folder.h"

#include <sys/wait.h>

#include <cstdlib>
#include <string>

namespace attune {

struct Finished {
  int exit_code = -1;
  std::string out;
  std::string err;
};

/// `arguments` are words for the shell; they may redirect stdout.
inline Finished run_attune(const std::string& arguments) {
  const TempFolder folder;
  const std::string command = "( \"" ATTUNE_BINARY "\" " + arguments + " ) >" + folder.file("out").string() + " 2>" +
                              folder.file("err").string();
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, TempFolder::read(folder.file("out")),
          TempFolder::read(folder.file("err"))};
}

}  // namespace attune
