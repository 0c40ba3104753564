// SPDX-License-Identifier: Apache-2.0
//
// The `cairn` command: finds the verb, lets CLI11 read its options, and turns what is wrong with a
// command line into one line that says what to do.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/mistaken_word.h"
#include "cli/reading_limits.h"
#include "cli/system_help.h"
#include "cli/verb.h"
#include "cli/verb_list.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/pager.h"
#include "os/terminal.h"
#include "os/this_process.h"

namespace cairn::cli {
namespace {

std::vector<std::string> VisibleVerbs(const CLI::App& root) {
  std::vector<std::string> names;
  for (const CLI::App* verb : root.get_subcommands(nullptr)) {
    if (!verb->get_group().empty()) names.push_back(verb->get_name());
  }
  return names;
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string Suggestion(const std::string& closest) {
  return closest.empty() ? "" : fmt::format("; did you mean {}?", closest);
}

int UnknownVerb(const CLI::App& root, const std::vector<std::string>& words) {
  const std::string& word = words.front();
  if (const std::string mistaken = MistakenForVerb(words); !mistaken.empty()) {
    PrintError("", mistaken);
    return kExitUsage;
  }
  const std::vector<std::string> verbs = VisibleVerbs(root);
  const std::string closest = ClosestWord(word, verbs);
  PrintError("", closest.empty()
                     ? fmt::format("unknown command '{}'; the commands are {}", word,
                                   fmt::join(verbs, ", "))
                     : fmt::format("unknown command '{}'; did you mean '{}'?", word, closest));
  return kExitUsage;
}

void PrintUnknownArgument(const CLI::App& app, const std::string& verb, const std::string& word) {
  const std::string next_step = fmt::format("see cairn{}{} --help", verb.empty() ? "" : " ", verb);
  if (!word.starts_with('-')) {
    PrintError(verb, fmt::format("unexpected argument '{}'; {}", word, next_step));
    return;
  }
  const std::string name = word.substr(0, word.find('='));
  const std::string closest = ClosestWord(name, OptionNames(app));
  PrintError(verb, fmt::format("unknown option '{}'{}", name,
                               closest.empty() ? "; " + next_step : Suggestion(closest)));
}

// Prints CLI11's error as one line and returns the exit code.
int ParseFailed(const CLI::ParseError& error, const CLI::App& root, const Verb* verb) {
  const std::string name = verb == nullptr ? "" : verb->app->get_name();
  const CLI::App& app = verb == nullptr ? root : *verb->app;
  const int exit_code = verb == nullptr ? kExitUsage : verb->usage_exit_code;
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    // --help and --version
    const bool is_version = dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr;
    const bool printed =
        is_version ? PrintOutput(name, std::string(error.what()) + "\n") : PrintHelp(root, app);
    return printed ? 0 : kExitFailed;
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !app.remaining().empty()) {
    PrintUnknownArgument(app, name, app.remaining().front());
    return exit_code;
  }
  std::string problem = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr &&
      problem.ends_with(" missing")) {
    problem = problem.substr(0, problem.find(':')) + " needs a value";
  }
  PrintError(name, fmt::format("{}; see cairn{}{} --help", problem, name.empty() ? "" : " ", name));
  return exit_code;
}

// Returns how many words an option has, with its value; 0 if the verb has none of this name.
size_t WordsOfOption(const CLI::App& verb, const std::string& word) {
  if (!word.starts_with('-')) return 0;  // it would find words that are no options, too
  const CLI::Option* const option = verb.get_option_no_throw(word.substr(0, word.find('=')));
  if (option == nullptr) return 0;
  return option->get_items_expected_max() > 0 && word.find('=') == std::string::npos ? 2 : 1;
}

// Takes the words that belong to a program out of `words`, which start with the verb. CLI11 cannot
// stop at the first of them and distinguish a misspelt option from a program.
std::vector<std::string> TakeProgram(const CLI::App& verb, std::vector<std::string>* words) {
  size_t end = 1;
  while (end < words->size() && (*words)[end].starts_with('-') && (*words)[end] != "--") {
    end = std::min(words->size(), end + std::max<size_t>(1, WordsOfOption(verb, (*words)[end])));
  }
  const size_t start = end < words->size() && (*words)[end] == "--" ? end + 1 : end;
  std::vector<std::string> program(words->begin() + static_cast<std::ptrdiff_t>(start),
                                   words->end());
  words->resize(end);
  return program;
}

// The same where the program stands behind "--".
std::vector<std::string> TakeBehindDashes(std::vector<std::string>* words) {
  const auto dashes = std::find(words->begin(), words->end(), "--");
  if (dashes == words->end()) return {};
  std::vector<std::string> program(dashes + 1, words->end());
  words->erase(dashes, words->end());
  return program;
}

// Recognises a program where a file belongs, whose "--" is missing. The verb's own options may stand
// behind it, as they may behind a file.
std::string MistakenForFile(const Verb& verb, const std::vector<std::string>& words) {
  std::vector<std::string> options;
  std::vector<std::string> program;
  for (size_t i = 1; i < words.size();) {
    const bool dashes = words[i] == "--";
    if (dashes && program.empty()) return "";
    const size_t count = dashes ? 0 : WordsOfOption(*verb.app, words[i]);
    if (count == 0) {
      if (program.empty() && words[i].starts_with('-')) return "";
      if (!dashes) program.push_back(words[i]);
      ++i;
    }
    for (const size_t end = std::min(words.size(), i + count); i < end; ++i) {
      options.push_back(words[i]);
    }
    if (!dashes) continue;
    program.insert(program.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
    break;
  }
  if (program.empty()) return "";
  return MistakenForFileBeforeDashes(words.front(), options, program);
}

int Main(int argc, char** argv) {
  PrepareStandardStreams();
  TellFileLimitsAsErrors();
  // Keeps cairn watchd away from programs that Cairn plays, measures, or starts under a watcher of its own.
  SetMissingVariable("CAIRN_DISABLE_WATCHD", "1");
  CLI::App root("Finds the draw that killed the GPU.", "cairn");
  root.set_version_flag("--version", "cairn " CAIRN_VERSION, "Print the version");
  const std::vector<Verb> verbs = AddVerbs(root);
  SetHelp(root, "cairn COMMAND [OPTIONS]",
          fmt::format(
              "{}\n{}\n{}", std::string(kCairnExamples), kExitCodes,
              "cairn COMMAND --help explains a command. Long output goes through CAIRN_PAGER on "
              "a terminal, else\nPAGER, else less; NO_COLOR turns colours off."));
  root.require_subcommand(0, 1);

  std::vector<std::string> words = CommandLineWords(argc, argv);
  const std::string word = words.empty() ? "" : words.front();
  if (word.empty()) {
    PrintError("",
               fmt::format("no command is given; the commands are {}; cairn --help explains them",
                           fmt::join(VisibleVerbs(root), ", ")));
    return kExitUsage;
  }
  const Verb* chosen = nullptr;
  for (const Verb& verb : verbs) {
    if (verb.app->get_name() == word) chosen = &verb;
  }
  if (chosen == nullptr && !word.starts_with('-')) return UnknownVerb(root, words);
  const std::vector<std::string> own_words = words;
  if (chosen != nullptr && chosen->program_needs_dashes && words.back() == "--" &&
      std::count(words.begin(), words.end(), "--") == 1) {
    PrintError(word, "no program is given behind --");
    return chosen->usage_exit_code;
  }
  if (chosen != nullptr && chosen->program_needs_dashes) {
    if (const std::string mistaken = MistakenForFile(*chosen, words); !mistaken.empty()) {
      PrintError(word, mistaken);
      return chosen->usage_exit_code;
    }
  }
  if (chosen != nullptr && chosen->program != nullptr) {
    *chosen->program =
        chosen->program_needs_dashes ? TakeBehindDashes(&words) : TakeProgram(*chosen->app, &words);
  }
  try {
    std::reverse(words.begin(), words.end());  // the order that CLI11 wants
    root.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return ParseFailed(error, root, chosen);
  }
  if (chosen == nullptr) return UnknownVerb(root, own_words);
  for (const char* const name : {"--json", "--jsonl", "--markdown"}) {
    const CLI::Option* const json = chosen->app->get_option_no_throw(name);
    if (json != nullptr && json->count() != 0) PrintOutputUnchanged();
  }
  PrepareFor(*chosen, own_words, argv);
  const bool pages = chosen->pages && !(chosen->without_pager && chosen->without_pager());
  const Pager pager(pages ? PagerCommand() : "");
  return chosen->run();
}

}  // namespace
}  // namespace cairn::cli

int main(int argc, char** argv) {
  try {
    return cairn::cli::Main(argc, argv);
  } catch (const std::bad_alloc&) {
    cairn::cli::PrintError("", cairn::cli::WhyNoMemory());
    return cairn::cli::kExitFailed;
  } catch (const std::exception& error) {
    // Only the standard library throws here: a defect.
    cairn::cli::PrintError("", fmt::format("failed: {}", error.what()));
    return cairn::cli::kExitFailed;
  }
}
