// attune bank: looks at what was measured, and moves it between machines.
#include "cli/bank_arguments.h"

#include <CLI/CLI.hpp>

#include <map>
#include <memory>

namespace attune::cli {
namespace {

constexpr BankCommand kCommands[] = {
    {"list", "Show the records", add_bank_list},
    {"best", "Show for each workload the record that is applied here", add_bank_best},
    {"show", "Show one record with its samples, and whether it applies here", add_bank_show},
    {"export", "Write records as JSON lines, for review and other machines", add_bank_export},
    {"import", "Take records of JSON lines into the bank", add_bank_import},
    {"merge", "Take the records of other banks of the same processor into the bank", add_bank_merge},
    {"diff", "Compare the best records of two banks", add_bank_diff},
    {"prune", "Remove records", add_bank_prune},
    {"verify", "Read everything and check it", add_bank_verify},
};

}  // namespace

Action add_bank(CLI::App& verb) {
  verb.require_subcommand(0, 1);
  auto actions = std::make_shared<std::map<std::string, Action>>();
  for (const BankCommand& command : kCommands) {
    CLI::App* sub = verb.add_subcommand(command.name, command.summary)->group("Commands")->allow_extras();
    sub->footer("Exit codes: see 'attune --help'.");
    (*actions)[command.name] = command.add(*sub);
  }
  return [actions, &verb] {
    const auto chosen = verb.get_subcommands();
    if (chosen.empty()) throw UserError("what shall be done with the bank?\n\n{}", verb.get_parent()->help());
    return actions->at(chosen.front()->get_name())();
  };
}

}  // namespace attune::cli
