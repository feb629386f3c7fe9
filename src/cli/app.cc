#include "cli/app.h"

#include "base/suggest.h"
#include "cli/output.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attune::cli {
namespace {

struct ExitCodeText {
  ExitCode code;
  const char* text;
};

constexpr ExitCodeText kExitCodes[] = {
    {ExitCode::ok, "done"},
    {ExitCode::internal, "a bug in attune"},
    {ExitCode::usage, "wrong flags or bad input"},
    {ExitCode::unsupported, "the model needs something that attune does not support"},
    {ExitCode::accuracy, "the accuracy check failed"},
    {ExitCode::regression, "slower than the baseline"},
    {ExitCode::no_candidate, "no valid candidate was found"},
    {ExitCode::device, "a device or library is missing"},
    {ExitCode::interrupted, "interrupted; what was done is saved"},
};

std::string exit_code_footer() {
  std::string text = "Exit codes:";
  for (const ExitCodeText& entry : kExitCodes)
    text += fmt::format("\n  {:<4}{}", static_cast<int>(entry.code), entry.text);
  return text;
}

void add_flag_names(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  const std::vector<std::string_view> choices(names.begin(), names.end());
  const auto best = nearest(word, choices);
  return best ? fmt::format("did you mean '{}'?", *best) : std::string();
}

bool is_flag(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

/// The last of the verb and its subcommands that were named; nullptr without a verb.
const CLI::App* innermost_choice(const CLI::App& app) {
  const CLI::App* choice = nullptr;
  for (auto chosen = app.get_subcommands(); !chosen.empty(); chosen = choice->get_subcommands())
    choice = chosen.front();
  return choice;
}

/// "attune bank list".
std::string path_of(const CLI::App& choice) {
  const CLI::App* parent = choice.get_parent();
  return parent == nullptr ? choice.get_name() : path_of(*parent) + " " + choice.get_name();
}

/// Throws for a word that neither attune nor what was chosen knows. Called before the verb runs, and also when CLI11
/// complains about something else: "--modle x" is better explained by its spelling than by a missing --model.
void refuse_unknown_words(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(/*recurse=*/true);
  if (words.empty()) return;
  const CLI::App& choice = innermost_choice(app) == nullptr ? app : *innermost_choice(app);
  const std::string place = path_of(choice), help = fmt::format("see '{} --help'", place);
  const auto below = choice.get_subcommands([](const CLI::App*) { return true; });
  if (!below.empty() && !is_flag(words.front())) {
    std::vector<std::string> names;
    for (const CLI::App* known : below) names.push_back(known->get_name());
    const std::string hint = did_you_mean(words.front(), names);
    if (&choice == &app)
      throw UserError("unknown verb '{}'; {}", words.front(), hint.empty() ? help + " for the verbs" : hint);
    throw UserError("'{}' has no '{}'; {}", place, words.front(), hint.empty() ? help : hint);
  }
  for (const std::string& word : words) {
    if (!is_flag(word)) continue;
    const std::string flag = word.substr(0, word.find('='));
    std::vector<std::string> names;
    for (const CLI::App* level = &choice; level != nullptr; level = level->get_parent()) add_flag_names(*level, names);
    if (std::find(names.begin(), names.end(), flag) != names.end())
      throw UserError("flag '{}' is out of place; write it after '{}' and before '--', {}", flag, place, help);
    const std::string hint = did_you_mean(flag, names);
    throw UserError("unknown flag '{}' for '{}'; {}", flag, place, hint.empty() ? help : hint);
  }
  throw UserError("unexpected argument '{}' for '{}'; {}", words.front(), place, help);
}

ExitCode parse_and_run(int argc, const char* const* argv, std::span<const Verb> verbs) {
  CLI::App app("attune loads ONNX models, runs them and tunes them for this machine.", "attune");
  app.footer(exit_code_footer());
  app.set_version_flag("--version", std::string("attune ") + ATTUNE_VERSION, "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.allow_extras();  // refuse_unknown_words reports them
  app.get_formatter()->label("SUBCOMMAND", "VERB");
  std::map<std::string, Action> actions;
  for (const Verb& verb : verbs) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary)->group(verb.group)->allow_extras();
    sub->footer("Exit codes: see 'attune --help'.");
    actions[verb.name] = verb.add(*sub);
  }
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    write_stdout(app.help());
    return ExitCode::ok;
  } catch (const CLI::CallForVersion& version) {
    write_stdout(std::string(version.what()) + "\n");
    return ExitCode::ok;
  } catch (const CLI::ParseError& error) {
    refuse_unknown_words(app);
    throw UserError("{}", error.what());
  }
  refuse_unknown_words(app);
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) throw UserError("which verb?\n\n{}", app.help());
  return actions.at(chosen.front()->get_name())();
}

/// Names out of a model can be of any length; a message is for reading.
std::string abbreviated(const std::string& message) {
  constexpr size_t kMostCharacters = 4000;
  if (message.size() <= kMostCharacters) return message;
  return message.substr(0, kMostCharacters / 2) + " … " + message.substr(message.size() - kMostCharacters / 4);
}

int report(ExitCode code, const std::string& message) {
  write_stderr(fmt::format("attune: error: {}\n", printable(abbreviated(message), Newlines::keep)));
  return static_cast<int>(code);
}

int report_bug(const std::string& message) {
  return report(ExitCode::internal,
                message + "\nthis is a bug in attune; please report it with the command line and the model");
}

}  // namespace

int run_command_line(int argc, const char* const* argv, std::span<const Verb> verbs) {
  try {
    prepare_streams();
    return static_cast<int>(parse_and_run(argc, argv, verbs));
  } catch (const ReaderGone&) {
    return static_cast<int>(ExitCode::ok);  // as in `attune … | head`: the reader has what it wanted
  } catch (const InternalError& error) {
    return report_bug(error.what());
  } catch (const Error& error) {
    return report(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return report(ExitCode::usage, "out of memory; use smaller shapes, a smaller batch or a larger machine");
  } catch (const std::exception& error) {
    return report_bug(error.what());
  } catch (...) {
    return report_bug("an unknown exception");
  }
}

}  // namespace attune::cli
